{
  description = "A performance lab whose verdicts survive a check";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { nixpkgs, ... }:
    let
      inherit (nixpkgs) lib;

      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      forAllSystems = lib.genAttrs systems;

      # The default instance stays free; only the gpu shell asks for more.
      free = system: import nixpkgs { inherit system; };
      withCuda =
        system:
        import nixpkgs {
          inherit system;
          config = {
            allowUnfree = true;
            cudaSupport = true;
          };
        };

      # Bazel takes rustc from PATH (tools/bazel/rust_toolchain.bzl), so one toolchain serves Cargo
      # and Bazel. nixpkgs' Bazel refuses a .bazelversion other than its own version.
      tools =
        pkgs: with pkgs; [
          bazel_7
          buildifier
          cargo
          clippy
          git
          gnuplot
          hyperfine
          jq
          python3
          ripgrep
          rustc
          rustfmt
          ugrep
        ];

      # What the rest of the repository pins too: rust-toolchain.toml for rustup, .bazelversion.
      pins = {
        bazel = lib.trim (builtins.readFile ./.bazelversion);
        rustc = (lib.importTOML ./rust-toolchain.toml).toolchain.channel;
      };
    in
    {
      devShells = forAllSystems (
        system:
        let
          pkgs = free system;
          cuda = withCuda system;
        in
        {
          default = pkgs.mkShell { packages = tools pkgs; };

          # For two real Ollama servers on a GPU.
          gpu = cuda.mkShell {
            packages = tools cuda ++ [
              cuda.nvidia-container-toolkit
              cuda.ollama-cuda
            ];
          };
        }
      );

      # The lab's tools as a container image; the repository is mounted at /lab.
      packages = forAllSystems (
        system:
        let
          pkgs = free system;
        in
        {
          image = pkgs.dockerTools.buildLayeredImage {
            name = "lab-tools";
            tag = "latest";
            contents = tools pkgs ++ [
              pkgs.bashInteractive
              pkgs.cacert
              pkgs.coreutils
              pkgs.stdenv.cc
            ];
            config = {
              Cmd = [ "bash" ];
              Env = [
                "LAB_ENVIRONMENT=nix"
                "SSL_CERT_FILE=${pkgs.cacert}/etc/ssl/certs/ca-bundle.crt"
              ];
              WorkingDir = "/lab";
            };
          };
        }
      );

      # `nix run .#tr115`, in a checkout of the repository.
      apps = forAllSystems (
        system:
        let
          pkgs = free system;
          tr115 = pkgs.writeShellApplication {
            name = "tr115";
            runtimeInputs = tools pkgs ++ [ pkgs.stdenv.cc ];
            text = ''
              export LAB_ENVIRONMENT=nix
              exec bazel run //lab:tr115_matrix -- "$@"
            '';
          };
        in
        {
          tr115 = {
            type = "app";
            program = lib.getExe tr115;
            meta.description = "Run the TR115 matrix on the paced server";
          };
        }
      );

      checks = forAllSystems (
        system:
        let
          pkgs = free system;
        in
        {
          # Nix, rustup and Bazel have to name the same versions.
          pins =
            assert lib.assertMsg (pkgs.rustc.version == pins.rustc)
              "rust-toolchain.toml names rustc ${pins.rustc}, nixpkgs has ${pkgs.rustc.version}";
            assert lib.assertMsg (pkgs.bazel_7.version == pins.bazel)
              ".bazelversion names Bazel ${pins.bazel}, nixpkgs has ${pkgs.bazel_7.version}";
            pkgs.runCommand "pins-agree" { } "touch $out";
        }
      );

      formatter = forAllSystems (system: (free system).nixfmt-tree);
    };
}

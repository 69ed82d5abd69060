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
      # and Bazel. nixpkgs' Bazel refuses a .bazelversion other than its own version. ./enter has
      # these three lists in Debian's names, and a test compares them.
      tools =
        pkgs: with pkgs; [
          bazel_7
          buildifier
          cargo
          clippy
          git
          gnuplot
          go
          hyperfine
          jq
          (python3.withPackages (packages: [ packages.jsonschema ]))
          ripgrep
          rust-analyzer
          rustc
          rustfmt
          strace
          ugrep
          valgrind
        ];

      # What workflow back ends run on; nothing of it is started by entering a shell.
      backEnds =
        pkgs: with pkgs; [
          nodejs_24
          postgresql_18
          rabbitmq-server
          ruby
        ];

      # What starts Ollama twice, and reads this file and the compose file.
      containers =
        pkgs: with pkgs; [
          aardvark-dns
          catatonit
          docker-compose
          netavark
          nftables
          nix
          podman
          podman-compose
          runc
        ];

      # docs/ENVIRONMENTS.md promises versions in the row that begins with "nix".
      promised =
        let
          isRow = lib.hasPrefix "| nix |";
          lines = lib.splitString "\n" (builtins.readFile ./docs/ENVIRONMENTS.md);
          cells = map lib.trim (lib.splitString "|" (lib.findFirst isRow "" lines));
        in
        {
          bazel = builtins.elemAt cells 4;
          gnuplot = builtins.elemAt cells 5;
          hyperfine = builtins.elemAt cells 6;
        };

      # What the rest of the repository pins too: rust-toolchain.toml for rustup, .bazelversion.
      pins = {
        bazel = lib.trim (builtins.readFile ./.bazelversion);
        rustc = (lib.importTOML ./rust-toolchain.toml).toolchain.channel;
      };

      packages = forAllSystems (
        system:
        let
          pkgs = free system;
        in
        {
          # The one program. Its tests are the repository's, and start other programs of it.
          lab = pkgs.rustPlatform.buildRustPackage {
            pname = "lab";
            version = (lib.importTOML ./Cargo.toml).workspace.package.version;
            src = ./.;
            cargoLock.lockFile = ./Cargo.lock;
            buildAndTestSubdir = "lab/cli";
            doCheck = false;
          };

          # The lab's tools as a container image; the repository is mounted at /lab.
          image = pkgs.dockerTools.buildLayeredImage {
            name = "lab-tools";
            tag = "latest";
            contents =
              tools pkgs
              ++ backEnds pkgs
              ++ [
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
    in
    {
      devShells = forAllSystems (
        system:
        let
          pkgs = free system;
          cuda = withCuda system;
        in
        {
          default = pkgs.mkShell { packages = tools pkgs ++ backEnds pkgs ++ containers pkgs; };

          # For two real Ollama servers on a GPU, which come as containers: so every environment has
          # the version of tools/ollama/install.sh. CDI specs name the hook, which is in `tools`.
          gpu = cuda.mkShell {
            packages =
              tools cuda
              ++ backEnds cuda
              ++ containers cuda
              ++ [
                cuda.nvidia-container-toolkit
                cuda.nvidia-container-toolkit.tools
              ];
          };

          # To look at the pages of `lab site`.
          browser = pkgs.mkShell { packages = tools pkgs ++ [ pkgs.chromium pkgs.nodejs_24 ]; };
        }
      );

      inherit packages;

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
          # `nix run FLAKE#lab -- compare 'cmd A' 'cmd B'`, anywhere.
          lab = {
            type = "app";
            program = "${packages.${system}.lab}/bin/lab";
            meta.description = "Compare commands, run experiments, write reports";
          };

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

          # The page and this file have to name the same major versions.
          promises =
            let
              major = version: builtins.head (builtins.splitVersion version);
              keeps =
                name: package:
                lib.assertMsg (major promised.${name} == major package.version)
                  "docs/ENVIRONMENTS.md has ${name} ${promised.${name}}, nixpkgs ${package.version}";
            in
            assert keeps "bazel" pkgs.bazel_7;
            assert keeps "gnuplot" pkgs.gnuplot;
            assert keeps "hyperfine" pkgs.hyperfine;
            pkgs.runCommand "promises-kept" { } "touch $out";

          # Each program that the lab calls by name is there, and starts.
          tools-start =
            pkgs.runCommand "tools-start"
              {
                nativeBuildInputs = tools pkgs ++ backEnds pkgs ++ containers pkgs;
              }
              ''
                export HOME=$TMPDIR
                for tool in buildifier cargo docker-compose git gnuplot hyperfine jq nft node podman \
                  postgres python3 rg ruby runc rust-analyzer rustc rustfmt strace ugrep valgrind; do
                  "$tool" --version >>"$out" || { echo "$tool does not start" >&2; exit 1; }
                done
                go version >>"$out"
                python3 -c 'import jsonschema'
                command -v bazel rabbitmq-server podman-compose >>"$out"
              '';

          # What an engine would be handed is an image that has the lab's tools.
          inherit (packages.${system}) image;
        }
      );

      formatter = forAllSystems (system: (free system).nixfmt-tree);
    };
}

# The outputs of ../flake.nix on a made-up nixpkgs, so that they can be evaluated where no nixpkgs is:
# names that are not in this list, missing outputs and syntax are found out, packages are not built.
# A test of lab/tidy evaluates it; versions are those of docs/ENVIRONMENTS.md's row nix, as arguments.
{
  rustc,
  bazel,
  gnuplot,
  hyperfine,
}:
let
  # Attributes that the locked nixpkgs has.
  versions = {
    inherit rustc gnuplot hyperfine;
    bazel_7 = bazel;
  };
  names = [
    "aardvark-dns"
    "bashInteractive"
    "buildifier"
    "cacert"
    "cargo"
    "catatonit"
    "chromium"
    "clippy"
    "coreutils"
    "docker-compose"
    "git"
    "go"
    "jq"
    "netavark"
    "nftables"
    "nix"
    "nixfmt-tree"
    "nodejs_24"
    "podman"
    "podman-compose"
    "postgresql_18"
    "rabbitmq-server"
    "ripgrep"
    "ruby"
    "runc"
    "rust-analyzer"
    "rustfmt"
    "strace"
    "ugrep"
    "valgrind"
  ]
  ++ builtins.attrNames versions;

  trim = text: builtins.head (builtins.match "[[:space:]]*(.*[^[:space:]]|)[[:space:]]*" text);
  lib = {
    inherit trim;
    assertMsg = holds: message: holds || throw message;
    findFirst =
      holds: default: list:
      builtins.head (builtins.filter holds list ++ [ default ]);
    genAttrs =
      names: value: builtins.listToAttrs (map (name: { inherit name; value = value name; }) names);
    getExe = package: "${package}/bin/${package.name}";
    hasPrefix = prefix: text: builtins.substring 0 (builtins.stringLength prefix) text == prefix;
    importTOML = file: builtins.fromTOML (builtins.readFile file);
    splitString = by: text: builtins.filter builtins.isString (builtins.split "[${by}]" text);
  };

  pkgsOf =
    system: config:
    let
      # Whatever goes into the real one goes into this one's environment.
      made =
        name: inputs:
        derivation {
          inherit name system;
          builder = "/bin/sh";
          inputs = builtins.toJSON inputs;
        };
      package = name: made name [ ] // { version = versions.${name} or "1"; };
      unfree = name: if config.allowUnfree or false then package name else throw "${name} is unfree";
    in
    lib.genAttrs names package
    // {
      mkShell = made "shell";
      rustPlatform.buildRustPackage = arguments: made arguments.pname arguments;
      dockerTools.buildLayeredImage = arguments: made arguments.name arguments;
      runCommand =
        name: arguments: text:
        made name [ arguments text ];
      writeShellApplication = arguments: made arguments.name arguments;
      stdenv.cc = package "cc";
      python3.withPackages = choose: made "python3" (choose { jsonschema = package "jsonschema"; });
      nvidia-container-toolkit = unfree "nvidia-container-toolkit" // {
        tools = unfree "nvidia-container-toolkit-tools";
      };
    };

  nixpkgs = {
    inherit lib;
    # What `import nixpkgs` would give: a function of the system and the settings.
    __functor = _: { system, config ? { } }: pkgsOf system config;
  };

  # The real `import` takes files alone.
  flake = builtins.scopedImport { import = taken: taken; } ../flake.nix;
  outputs = flake.outputs { inherit nixpkgs; };

  drvPaths = set: builtins.mapAttrs (_: value: value.drvPath) set;
in
{
  devShells = builtins.mapAttrs (_: drvPaths) outputs.devShells;
  packages = builtins.mapAttrs (_: drvPaths) outputs.packages;
  checks = builtins.mapAttrs (_: drvPaths) outputs.checks;
  formatter = drvPaths outputs.formatter;
  inherit (outputs) apps;
}

# The outputs of ../flake.nix on a tree of nixpkgs: tools/proof nixpkgs evaluates it.
{ nixpkgs }:
let
  outputs = (import ../flake.nix).outputs {
    # As a flake's input is: a path that knows its library.
    nixpkgs = {
      outPath = nixpkgs;
      lib = import (nixpkgs + "/lib");
    };
  };
  drvPaths = builtins.mapAttrs (_: builtins.mapAttrs (_: value: value.drvPath));
in
{
  devShells = drvPaths outputs.devShells;
  packages = drvPaths outputs.packages;
  checks = drvPaths outputs.checks;
  formatter = builtins.mapAttrs (_: value: value.drvPath) outputs.formatter;
  inherit (outputs) apps;
}

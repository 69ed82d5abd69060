"""Experiments as commands: `bazel run //lab:NAME -- ARGUMENTS`."""

def sweep(name, family, experiment = None):
    """Runs an experiment on the programs of its family.

    Args:
        name: of the target.
        family: the experiment's family, whose variants are built first.
        experiment: the file experiments/EXPERIMENT.toml, where it is not called as the target is.
    """
    _command(name, ["experiments/%s.toml" % (experiment or name)], "//%s:variants" % family)

def any_experiment(name, variants = "//lab/families:variants"):
    """`lab NAME` on the experiment whose file is the first argument.

    Args:
        name: of the target and of the lab's command.
        variants: what that needs of all families: their programs, or their manifests alone.
    """
    _command(name, [], variants, command = name)

def _command(name, args, variants, command = "run"):
    native.sh_binary(
        name = name,
        srcs = ["sweep.sh"],
        args = [command] + args,
        data = [
            "//:experiments",
            "//:plots",
            "//lab/cli:lab",
            variants,
        ],
    )

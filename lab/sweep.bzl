"""Experiments as commands: `bazel run //lab:NAME -- ARGUMENTS`."""

def sweep(name, family, experiment = None):
    """Runs an experiment on the programs of its family.

    Args:
        name: of the target.
        family: the experiment's family, whose variants are built first.
        experiment: the file experiments/EXPERIMENT.toml, where it is not called as the target is.
    """
    _command(name, ["experiments/%s.toml" % (experiment or name)], "//%s:variants" % family)

def any_experiment(name):
    """Runs the experiment whose file is the first argument, on the programs of all families.

    Args:
        name: of the target.
    """
    _command(name, [], "//lab/families:variants")

def _command(name, args, programs):
    native.sh_binary(
        name = name,
        srcs = ["sweep.sh"],
        args = args,
        data = [
            "//:experiments",
            "//:plots",
            "//lab/cli:lab",
            programs,
        ],
    )

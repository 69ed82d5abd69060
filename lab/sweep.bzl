"""An experiment as a command: `bazel run //lab:NAME -- ARGUMENTS`."""

def sweep(name, family, experiment = None):
    """Runs an experiment on the programs of its family.

    Args:
        name: of the target.
        family: the experiment's family, whose variants are built first.
        experiment: the file experiments/EXPERIMENT.toml, where it is not called as the target is.
    """
    native.sh_binary(
        name = name,
        srcs = ["sweep.sh"],
        args = ["experiments/%s.toml" % (experiment or name)],
        data = [
            "//:experiments",
            "//:plots",
            "//lab/cli:lab",
            "//%s:variants" % family,
        ],
    )

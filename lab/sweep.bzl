"""Experiments as commands: `bazel run //lab:NAME -- ARGUMENTS`."""

def sweep(name, family, experiment = None):
    """Runs an experiment on the programs of its family.

    Args:
        name: of the target.
        family: the experiment's family, whose variants are built first.
        experiment: the file experiments/EXPERIMENT.toml, where it is not called as the target is.
    """
    _command(name, ["experiments/%s.toml" % (experiment or name)], "//%s:variants" % family)

def any_experiment(name, command = None, variants = "//lab/families:variants"):
    """A command of the lab on the experiment whose file is the first argument.

    Args:
        name: of the target.
        command: of the lab, where it is not called as the target is.
        variants: what that needs of all families: their programs, or their manifests alone.
    """
    _command(name, [], variants, command = command or name)

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

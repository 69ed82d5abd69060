MODULUS = (1 << 61) - 1
WORD = (1 << 64) - 1


def mix(seed, index):
    state = (seed + (index + 1) * 0x9E3779B97F4A7C15) & WORD
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & WORD
    return state ^ (state >> 31)


def compute(operation, values, part):
    """`Operation::compute` of the lab's protocol."""
    first = values[0] if values else 0
    if operation == "pass":
        return first
    if operation == "square":
        product = 1
        for value in values:
            product = product * value % MODULUS
        return product * product % MODULUS
    if operation == "sum":
        return sum(values) % MODULUS
    if "constant" in operation:
        return operation["constant"]
    rows = operation["sum_rows"]
    indices = range(part * rows, (part + 1) * rows)
    return sum(mix(first, index) % 10_000 for index in indices) % MODULUS



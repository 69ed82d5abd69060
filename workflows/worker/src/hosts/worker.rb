# A worker in Ruby: on its own (`process`), or by calling the library in Rust (`ffi PATH`).

VERSION = 1
LACKING = 3
MODULUS = (1 << 61) - 1
WORD = (1 << 64) - 1

def now_ns
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

def process
  STDIN.binmode
  STDOUT.binmode
  STDOUT.syswrite([VERSION, 0].pack('Q<2'))
  while (head = STDIN.read(32))
    operation, argument, part, count = head.unpack('Q<4')
    values = STDIN.read(8 * count).unpack('Q<*')
    started_ns = now_ns
    value = compute(operation, argument, part, values)
    finished_ns = now_ns
    STDOUT.syswrite([value, started_ns, finished_ns].pack('Q<3'))
  end
end

def ffi(path)
  begin
    require 'fiddle'
  rescue LoadError
    exit LACKING
  end
  library = Fiddle.dlopen(path)
  handle, word, int = Fiddle::TYPE_VOIDP, -Fiddle::TYPE_LONG_LONG, Fiddle::TYPE_INT
  function = lambda do |name, arguments, result|
    Fiddle::Function.new(library["workflows_worker_#{name}"], arguments, result)
  end
  empty = function.('empty', [], Fiddle::TYPE_VOID)
  open = function.('open', [int, int, word], handle)
  following = function.('next', [handle, handle], int)
  record = function.('record', [handle, word], int)
  close = function.('close', [handle], Fiddle::TYPE_VOID)

  worker = open.call(0, 1, empty_call_ns(empty))
  abort 'the worker cannot be opened' if worker.null?
  # Five words: operation, argument, part, count, and where the values are.
  step = Fiddle::Pointer.malloc(40, Fiddle::RUBY_FREE)
  while (more = following.call(worker, step)) == 1
    operation, argument, part, count, place = step[0, 40].unpack('Q5')
    values = count.zero? ? [] : Fiddle::Pointer.new(place)[0, 8 * count].unpack('Q*')
    record.call(worker, compute(operation, argument, part, values))
  end
  close.call(worker)
  abort 'the pipe brought no step' if more.negative?
end

# The median of calls by the hundred: one is about as short as a look at the clock.
def empty_call_ns(empty)
  times = Array.new(101) do
    start_ns = now_ns
    100.times { empty.call }
    now_ns - start_ns
  end
  times.sort[50] / 100
end

def compute(operation, argument, part, values)
  first = values.first || 0
  case operation
  when 0 then first
  when 1
    product = values.reduce(1) { |sofar, value| sofar * value % MODULUS }
    product * product % MODULUS
  when 2 then values.sum % MODULUS
  when 3 then argument
  when 4
    rows = (part * argument)...((part + 1) * argument)
    rows.sum { |row| mix(first, row) % 10_000 } % MODULUS
  else abort "there is no operation #{operation}"
  end
end

def mix(seed, index)
  state = (seed + (index + 1) * 0x9e37_79b9_7f4a_7c15) & WORD
  state = (state ^ (state >> 30)) * 0xbf58_476d_1ce4_e5b9 & WORD
  state = (state ^ (state >> 27)) * 0x94d0_49bb_1331_11eb & WORD
  state ^ (state >> 31)
end

ARGV[0] == 'process' ? process : ffi(ARGV[1])

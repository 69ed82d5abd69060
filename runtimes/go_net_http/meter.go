package main

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Of clock_gettime(2).
const (
	clockMonotonic  = 1
	clockProcessCPU = 2
)

func clockNs(clock uintptr) int64 {
	var time syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&time)), 0)
	return time.Nano()
}

// origin is a moment on both clocks: the package time reads CLOCK_MONOTONIC without a system call,
// but counts from a moment that it does not tell.
var origin, originNs = bothClocks()

// bothClocks reads one clock between two readings of the other one, several times: the closest
// three are the moment.
func bothClocks() (time.Time, int64) {
	var moment time.Time
	var momentNs int64
	for closest, try := time.Hour, 0; try < 10; try++ {
		before := time.Now()
		ns := clockNs(clockMonotonic)
		if gap := time.Since(before); gap < closest {
			closest, moment, momentNs = gap, before.Add(gap/2), ns
		}
	}
	return moment, momentNs
}

// nowNs is comparable with the stamps of any process of this machine.
func nowNs() int64 {
	return originNs + time.Since(origin).Nanoseconds()
}

// cpuNs is the CPU time of all threads of this process.
func cpuNs() int64 {
	return clockNs(clockProcessCPU)
}

// ofStatus is a number of /proc/self/status (memory is in KiB); 0 where the kernel does not say.
func ofStatus(key string) int64 {
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if words := strings.Fields(line); len(words) > 1 && words[0] == key {
			number, _ := strconv.ParseInt(words[1], 10, 64)
			return number
		}
	}
	return 0
}

// meter has what the run costs this process. Its readings are nanoseconds of CPU time, 0 before
// they were taken.
type meter struct {
	processStartNs int64
	atFirstAgentNs atomic.Int64
	atFirstTokenNs atomic.Int64
	lastTokenLock  sync.Mutex
	atLastTokenNs  int64
	threadsAtLast  int64
}

// first takes a reading where there is none yet.
func first(reading *atomic.Int64) {
	if reading.Load() == 0 {
		reading.CompareAndSwap(0, cpuNs())
	}
}

func (m *meter) agent() { first(&m.atFirstAgentNs) }

func (m *meter) token() { first(&m.atFirstTokenNs) }

// lastToken says that the `done` line of an agent's last call was parsed; the last agent's stays.
func (m *meter) lastToken() {
	cpu := cpuNs()
	// Counting threads costs CPU time, so it comes after the reading.
	threads := ofStatus("Threads:")
	m.lastTokenLock.Lock()
	defer m.lastTokenLock.Unlock()
	m.atLastTokenNs, m.threadsAtLast = cpu, threads
}

func (m *meter) counters() map[string]int64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	var streaming int64
	if first := m.atFirstTokenNs.Load(); first != 0 {
		streaming = max(m.atLastTokenNs-first, 0)
	}
	return map[string]int64{
		"process_start_ns":     m.processStartNs,
		"cpu_startup_ns":       m.atFirstAgentNs.Load(),
		"cpu_streaming_ns":     streaming,
		"cpu_total_ns":         cpuNs(),
		"voluntary_switches":   usage.Nvcsw,
		"involuntary_switches": usage.Nivcsw,
		"rss_high_water_bytes": ofStatus("VmHWM:") * 1024,
		"threads":              m.threadsAtLast,
	}
}

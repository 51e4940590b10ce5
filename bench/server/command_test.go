package server

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// BenchmarkCommand measures whole command-line processes, from start to exit, and the highest peak memory of any of
// them.
func BenchmarkCommand(b *testing.B) {
	for name, args := range map[string][]string{
		"version": {"version"},
		"report":  {"run", "research-agent", "How much did the mean CO2 rise from 1959 to 2019? Include a chart.", "--files", "../../examples/energy"},
	} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			var times []time.Duration
			peak, worked := int64(0), time.Duration(0)
			for b.Loop() {
				cmd := exec.Command(program, args...)
				cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "ATELIER_DATA=" + dir}
				begun := time.Now()
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
				times = append(times, time.Since(begun))
				worked += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
					peak = max(peak, used.Maxrss)
				}
			}
			report(b, times)
			b.ReportMetric(worked.Seconds()*1000/float64(len(times)), "cpu-ms/process")
			b.ReportMetric(float64(peak)/1024, "peak-MiB")
		})
	}
}

// Loaded before a program that the launcher starts. A launcher that is killed cannot stop its program, which would keep drawing
// over the shell's prompt, so the program checks whether its parent still exists, and otherwise ends as after SIGTERM.
import { isMainThread } from 'node:worker_threads'

const intervalMs = 500
const parent = process.ppid

if (isMainThread) {
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, intervalMs)
  timer.unref()
}

import { constants, getPriority, setPriority } from "node:os"

/**
 * Added to the nice value of the process for a decoding thread, which lowers its priority. Linux divides a core
 * by weights, here 335 to 1024 (`sched_prio_to_weight`), so the decoder gets a third of the processor time of a request
 * thread that wants the same core.
 */
const BEHIND_REQUESTS = 5

/**
 * Makes the calling thread yield its core to the threads that answer requests. Only Linux has priorities for single
 * threads. Elsewhere the call would lower the priority of the whole process, so it does nothing.
 */
export const lowerThreadPriority = (): void => {
  if (process.platform === "linux") {
    // A thread begins with the priority of the thread that started it, so count from the main thread's. Never a higher
    // priority than the process has: only a privileged process may ask for that.
    setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority(process.pid) + BEHIND_REQUESTS))
  }
}

import { constants, getPriority, setPriority } from "node:os"

/**
 * Nice value of a thread that decodes beyond that of the process. The scheduler of Linux divides a core by weights, here 335 to 1024
 * (`sched_prio_to_weight`): a third of the processor time of a request thread that wants the same core.
 */
const BEHIND_REQUESTS = 5

/**
 * Has the calling thread yield its core to the threads that answer requests. Linux alone gives each thread a priority of its own;
 * elsewhere the call would lower that of the whole process, so nothing is done.
 */
export const lowerThreadPriority = (): void => {
  if (process.platform === "linux") {
    // Never a higher priority than that of the process, which only a privileged one may ask for.
    setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + BEHIND_REQUESTS))
  }
}

/** Returns a function that reads the processor time of this thread since its previous call, in milliseconds. */
export const makeCpuMs = (): (() => number) => {
  let before = 0
  return () => {
    const { system, user } = process.threadCpuUsage()
    const now = (system + user) / 1000
    const used = now - before
    before = now
    return used
  }
}

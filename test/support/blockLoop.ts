/** Keeps the event loop busy: no timer fires and no socket is read meanwhile. */
export const blockLoop = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

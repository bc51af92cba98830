/** A decoder thread that stands still at every fifth slot. */
import { serveDecoderThat } from "./misbehavingDecoder.ts"

serveDecoderThat((slot) => {
  if (slot % 5 === 0) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }
})

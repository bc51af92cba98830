/** A decoder thread that ends at every fifth slot, and whose decoder throws at every seventh. */
import { serveDecoderThat } from "./misbehavingDecoder.ts"

serveDecoderThat((slot) => {
  if (slot % 5 === 0) {
    process.exit(3)
  }
  if (slot % 7 === 0) {
    throw new Error("a decoder threw")
  }
})

/** Answers every request at once with nothing, on a port that it prints: what its answers take is the machine's. */
import { createServer } from "node:http"

const server = createServer((_, response) => response.end()).listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`${typeof address === "object" && address !== null ? address.port : 0}\n`)
})
process.stdin.resume().on("close", () => process.exit(0))

import { spawn } from "node:child_process"
import { once } from "node:events"

/** Starts `blockServer.ts`. Each block takes `onItsWayMs` to arrive. `reach` makes a slot the newest one of its chain. */
export const startBlockServer = async (onItsWayMs = 0) => {
  const file = new URL("blockServer.ts", import.meta.url).pathname
  const server = spawn(process.execPath, [file, String(onItsWayMs)], { stdio: ["pipe", "pipe", "inherit"] })
  const [line] = await once(server.stdout, "data")
  const { bytes, port }: { readonly bytes: number; readonly port: number } = JSON.parse(String(line))
  return {
    bytes,
    port,
    reach: (slot: number) => server.stdin.write(`${slot}\n`),
    stop: () => server.kill()
  }
}

/** A network between a client and its database that can stop carrying anything, without closing a single connection. */
import { Effect } from "effect"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import type { TestAddress } from "./TestDatabase.ts"

/** A query without a deadline has no answer of a frozen database after this time; one with a deadline has failed long before. */
export const UNANSWERED_MS = 20_000

interface Wire {
  readonly near: Socket
  readonly far: Socket
}

/** A proxy in front of a test's database; `address` leads through it. */
export const make = Effect.fnUntraced(function* (behind: TestAddress) {
  const wires = new Set<Wire>()
  let isFrozen = false
  let refused = 0

  const stop = ({ far, near }: Wire) => {
    near.pause()
    far.pause()
  }
  const server = createServer((near) => {
    if (refused > 0) {
      refused--
      near.destroy()
      return
    }
    const far = connect(`${behind.host}/.s.PGSQL.5432`)
    const wire = { near, far }
    wires.add(wire)
    for (const [from, to] of [
      [near, far],
      [far, near]
    ] as const) {
      from.on("data", (chunk) => to.write(chunk))
      from.on("close", () => {
        wires.delete(wire)
        to.destroy()
      })
      from.on("error", () => to.destroy())
    }
    if (isFrozen) {
      stop(wire)
    }
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        wires.forEach(({ far, near }) => [far, near].forEach((socket) => socket.destroy()))
        server.close()
      })
  )
  const { port } = server.address() as AddressInfo
  const address: TestAddress = { host: "127.0.0.1", port, database: behind.database }
  return {
    address,
    /** Ends so many of the next connections at once. */
    refuse: (count: number) =>
      Effect.sync(() => {
        refused = count
      }),
    /** Nothing gets through any more: neither on the connections there are nor on new ones. */
    freeze: Effect.sync(() => {
      isFrozen = true
      wires.forEach(stop)
    }),
    thaw: Effect.sync(() => {
      isFrozen = false
      wires.forEach(({ far, near }) => [far, near].forEach((socket) => socket.resume()))
    }),
    /** New connections work. Those that were frozen stay frozen, so what they carried is never heard. */
    replace: Effect.sync(() => {
      isFrozen = false
    })
  }
})

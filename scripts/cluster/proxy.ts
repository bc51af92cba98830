/** A network between one process and a server that can stop carrying anything, without closing a connection. */
import { Effect } from "effect"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"

/** A proxy in front of a port of this machine. */
export interface Proxy {
  readonly port: number
  /** Carries nothing from now on, on the connections there are and on new ones. */
  readonly cut: Effect.Effect<void>
  /** Carries everything again, that which waited first. */
  readonly mend: Effect.Effect<void>
}

const listen = (server: Server) =>
  Effect.callback<number>((resume) => {
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
  })

/** Starts a proxy; it ends with the scope. */
export const startProxy = Effect.fnUntraced(function* (behind: number) {
  const sockets = new Set<Socket>()
  const state = { isCut: false }
  const carry = (from: Socket, to: Socket) => {
    sockets.add(from)
    from.on("data", (chunk) => to.write(chunk))
    from.on("error", () => to.destroy())
    from.on("close", () => {
      sockets.delete(from)
      to.destroy()
    })
    if (state.isCut) {
      from.pause()
    }
  }
  const server = createServer((near) => {
    const far = connect(behind, "127.0.0.1")
    carry(near, far)
    carry(far, near)
  })
  const port = yield* Effect.acquireRelease(listen(server), () =>
    Effect.sync(() => {
      sockets.forEach((socket) => socket.destroy())
      server.close()
    })
  )
  const proxy: Proxy = {
    port,
    cut: Effect.sync(() => {
      state.isCut = true
      sockets.forEach((socket) => socket.pause())
    }),
    mend: Effect.sync(() => {
      state.isCut = false
      sockets.forEach((socket) => socket.resume())
    })
  }
  return proxy
})

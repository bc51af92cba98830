/** A reverse proxy for trying out. Streams and sockets go to processes of the role `live`, everything else to `api`. */
import { Effect } from "effect"
import {
  createServer,
  type IncomingMessage,
  request,
  type RequestOptions,
  type Server,
  type ServerResponse
} from "node:http"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"

/** Base URLs of the processes by the kind of traffic that they take, read at each request. */
export interface Targets {
  readonly api: ReadonlyArray<string>
  readonly live: ReadonlyArray<string>
}

/** Hears of each answer to a request: the base URL of the process that gave it, and its status. */
export type OnAnswer = (target: string, status: number) => void

const isLive = (path: string): boolean => /\/(?:stream|realtime)(?:[/?]|$)/u.test(path)

/** The processes of a request in turn, each once, the first of them another one each time. */
const takeTurns = (targets: Targets) => {
  let turn = 0
  return (path: string): ReadonlyArray<string> => {
    const group = isLive(path) && targets.live.length > 0 ? targets.live : targets.api
    const first = turn++ % group.length
    return [...group.slice(first), ...group.slice(0, first)]
  }
}

const optionsOf = ({ headers, method, url = "/" }: IncomingMessage, target: string): RequestOptions => {
  const { hostname, port } = new URL(target)
  return { hostname, port, method, path: url, headers, agent: false }
}

/** Time without the head of an answer after which a read goes to the next process. */
const HEAD_TIMEOUT_MS = 3000

/**
 * Passes a request to the first of the processes that takes a connection. Of those that were sent, only a read without an
 * answer is sent again: a write may have been carried out.
 */
const pass = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  [target, ...others]: ReadonlyArray<string>,
  onAnswer: OnAnswer
): void => {
  if (target === undefined) {
    outgoing.writeHead(503).end()
    return
  }
  const isRead = incoming.method === "GET" || incoming.method === "HEAD"
  let isSent = false
  const onward = request(optionsOf(incoming, target), (answer) => {
    clearTimeout(patience)
    onAnswer(target, answer.statusCode ?? 0)
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(outgoing)
    answer.on("error", () => outgoing.destroy())
  })
  const patience =
    isRead && !isLive(incoming.url ?? "/") && others.length > 0
      ? setTimeout(() => onward.destroy(new Error("no answer")), HEAD_TIMEOUT_MS)
      : undefined
  onward.on("socket", (socket) =>
    socket.once("connect", () => {
      isSent = true
      if (isRead) {
        onward.end()
      } else {
        incoming.pipe(onward)
      }
    })
  )
  onward.on("error", () => {
    clearTimeout(patience)
    if (outgoing.destroyed || outgoing.headersSent) {
      outgoing.destroy()
    } else if (!isSent || (isRead && others.length > 0)) {
      pass(incoming, outgoing, others, onAnswer)
    } else {
      outgoing.writeHead(502).end()
    }
  })
  outgoing.on("close", () => onward.destroy())
}

/** Joins the socket of a client with one of a process. */
const join = (incoming: IncomingMessage, socket: Duplex, head: Buffer, [target, ...others]: ReadonlyArray<string>) => {
  if (target === undefined) {
    socket.end("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n")
    return
  }
  const onward = request(optionsOf(incoming, target))
  onward.on("upgrade", (answer, other, first) => {
    const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${String(value)}`)
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`)
    socket.write(first)
    other.write(head)
    for (const [one, another] of [
      [socket, other],
      [other, socket]
    ] as const) {
      one.on("error", () => another.destroy())
      one.on("close", () => another.destroy())
      one.pipe(another)
    }
  })
  onward.on("response", ({ statusCode = 502, statusMessage = "" }) => {
    socket.end(`HTTP/1.1 ${statusCode} ${statusMessage}\r\nConnection: close\r\n\r\n`)
  })
  onward.on("error", () => join(incoming, socket, head, others))
  onward.end()
}

/** Listens on the port, 0 for a free one, until the scope closes. Returns the base URL. */
export const balance = (targets: Targets, port: number, onAnswer: OnAnswer = () => undefined) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly server: Server; readonly sockets: ReadonlySet<Duplex> }>((resume) => {
        const turns = takeTurns(targets)
        const sockets = new Set<Duplex>()
        const server = createServer((incoming, outgoing) =>
          pass(incoming, outgoing, turns(incoming.url ?? "/"), onAnswer)
        )
        server.on("upgrade", (incoming, socket, head) => {
          sockets.add(socket)
          socket.on("error", () => socket.destroy())
          socket.on("close", () => sockets.delete(socket))
          join(incoming, socket, head, turns(incoming.url ?? "/"))
        })
        server.listen(port, "127.0.0.1", () => resume(Effect.succeed({ server, sockets })))
      }),
      ({ server, sockets }) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
          sockets.forEach((socket) => socket.destroy())
        })
    ),
    ({ server }) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  )

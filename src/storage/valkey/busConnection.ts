/** Connections that a bus uses to talk to Valkey or Redis 7. They carry bytes. */
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { Duration, Effect, Exit, Layer, References, Scope, Semaphore } from "effect"
import { BusUnavailable } from "../bus/busLog.ts"
import { within } from "../deadline.ts"

/** Timeout of one command. */
const COMMAND_TIMEOUT = Duration.seconds(3)
const CONNECT_TIMEOUT_MS = 2000
/** The protocol's type code for replies that hold bytes. */
const BLOB = 36

type Client = NodeRedis.NodeRedis["Service"]["client"]

/** Sends a command and returns its reply. Bytes stay bytes. */
export type Send = (...command: ReadonlyArray<string | Buffer>) => Effect.Effect<unknown, BusUnavailable>

const unavailable = (cause: unknown) => new BusUnavailable({ cause })

/** Opens a client that does not reconnect by itself. When it is lost, its running commands fail. */
const open = (url: string) =>
  Effect.map(
    Layer.build(
      NodeRedis.layer({
        url,
        RESP: 2,
        disableOfflineQueue: true,
        socket: {
          connectTimeout: CONNECT_TIMEOUT_MS,
          socketTimeout: Duration.toMillis(COMMAND_TIMEOUT),
          reconnectStrategy: false
        }
      })
    ).pipe(
      Effect.flatMap((context) => Effect.provide(Effect.service(NodeRedis.NodeRedis), context)),
      Effect.provideService(References.MinimumLogLevel, "Error"),
      Effect.mapError(({ cause }) => unavailable(cause))
    ),
    ({ client }) => client
  )

/** A connection that is opened on first use, and again after a failure or a close. */
export const makeConnection = Effect.fnUntraced(function* (url: string): Effect.fn.Return<Send, never, Scope.Scope> {
  const opening = yield* Semaphore.make(1)
  let held: { readonly client: Client; readonly scope: Scope.Closeable } | null = null

  const drop = Effect.suspend(() => {
    const gone = held
    held = null
    if (gone === null) {
      return Effect.void
    }
    // A closing client waits for the answers to its commands; a destroyed client abandons them.
    return Effect.andThen(
      Effect.ignoreCause(Effect.sync(() => gone.client.destroy())),
      Effect.ignoreCause(Scope.close(gone.scope, Exit.void))
    )
  })
  yield* Effect.addFinalizer(() => drop)

  const client = Effect.suspend(() => {
    // An idle connection may have been closed by this process or by the server.
    if (held !== null && held.client.isOpen) {
      return Effect.succeed(held.client)
    }
    return Effect.gen(function* () {
      yield* drop
      const scope = yield* Scope.make()
      const opened = yield* within(
        COMMAND_TIMEOUT,
        unavailable
      )(Scope.provide(open(url), scope)).pipe(Effect.onError(() => Effect.ignoreCause(Scope.close(scope, Exit.void))))
      held = { client: opened, scope }
      return opened
    })
  }).pipe(opening.withPermit)

  return (...command) =>
    Effect.flatMap(client, (open) =>
      within(
        COMMAND_TIMEOUT,
        unavailable
      )(
        Effect.tryPromise({
          try: () => open.sendCommand([...command], { typeMapping: { [BLOB]: Buffer } }) as Promise<unknown>,
          catch: unavailable
        })
      )
    ).pipe(Effect.tapError(() => drop))
})

/** Views the bytes as a Buffer, without a copy. */
export const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The bytes of executed programs, read from the node once they are needed and again after an upgrade. */
import { Clock, type Duration, Effect, type Scope } from "effect"
import type { Address } from "../../domain/Address.ts"
import { makeDeriveAddress } from "../../chain/programAddress.ts"
import type { ChainFeed } from "../../chain/ChainFeed.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { noteFailure } from "../../operations/SourceMonitor.ts"
import { type DeployedProgram, deployedProgram, deploymentOf, HEADER, programDataAddress } from "./deployment.ts"

/** A program that could not be read is tried again after this time. */
const RETRY_MS = 10_000

/** The state of a program's bytes. */
export type ProgramBytes =
  | { readonly _tag: "Loaded"; readonly program: DeployedProgram }
  | { readonly _tag: "Loading" }
  | { readonly _tag: "Failed"; readonly detail: string; readonly atMs: number }

export interface ProgramLibrary {
  /** The bytes of a program. The first call for a program has it read. */
  readonly of: (programId: Address) => ProgramBytes
  /** The bytes of a program, if anybody asked for them. */
  readonly peek: (programId: Address) => ProgramBytes | undefined
}

/** Keeps the bytes of programs until the scope closes. Looks for upgrades once every interval. */
export const programLibrary = Effect.fnUntraced(function* (
  feed: Pick<ChainFeed["Service"], "read">,
  interval: Duration.Duration,
  source: string
): Effect.fn.Return<ProgramLibrary, never, Scope.Scope> {
  const derive = makeDeriveAddress()
  const scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  const run = Effect.runForkWith(yield* Effect.context())
  const known = new Map<Address, ProgramBytes>()
  const addressesOf = (programId: Address) => [programId, programDataAddress(programId, derive)]

  const load = (programId: Address) =>
    feed.read(addressesOf(programId)).pipe(
      Effect.map(({ accounts }) => deployedProgram(programId, (address) => accounts.get(address))),
      Effect.map((program) => ("reason" in program ? program : { program })),
      Effect.catchTag("ChainUnavailable", (error) =>
        Effect.as(noteFailure(source, error), { reason: "its bytes could not be read from the node" })
      ),
      Effect.map((read) => {
        known.set(
          programId,
          "reason" in read
            ? { _tag: "Failed", detail: read.reason, atMs: clock.currentTimeMillisUnsafe() }
            : { _tag: "Loaded", ...read }
        )
      })
    )

  /** Reads the headers of the loaded programs, and the bytes of those that were deployed again. */
  const look = Effect.gen(function* () {
    const loaded = [...known].flatMap(([programId, bytes]) =>
      bytes._tag === "Loaded" ? [{ programId, slot: bytes.program.slot }] : []
    )
    if (loaded.length === 0) {
      return
    }
    const { accounts } = yield* feed.read(
      loaded.flatMap(({ programId }) => addressesOf(programId)),
      HEADER
    )
    for (const { programId, slot } of loaded) {
      const now = deploymentOf(programId, (address) => accounts.get(address))
      if ("reason" in now || now.slot !== slot) {
        yield* load(programId)
      }
    }
  })
  yield* Effect.sleep(interval).pipe(
    Effect.andThen(Effect.catchTag(look, "ChainUnavailable", (error) => noteFailure(source, error))),
    Effect.forever,
    keepRunning("Watching the deployments of executed programs", source),
    Effect.forkScoped
  )

  return {
    peek: (programId) => known.get(programId),
    of: (programId) => {
      const bytes = known.get(programId)
      const isDue = bytes?._tag === "Failed" && clock.currentTimeMillisUnsafe() - bytes.atMs >= RETRY_MS
      if (bytes !== undefined && !isDue) {
        return bytes
      }
      known.set(programId, { _tag: "Loading" })
      run(Effect.forkIn(load(programId), scope))
      return { _tag: "Loading" }
    }
  }
})

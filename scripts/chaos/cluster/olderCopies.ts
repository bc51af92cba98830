/** Faults in which a store comes back as an older copy of itself. */
import { Effect, Redacted, Schedule } from "effect"
import { spawnSync } from "node:child_process"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import { COMMAND_LINE } from "../../../src/api/schemas/KeyAudit.ts"
import * as Processes from "../../../src/storage/processes.ts"
import { issue, keyStore, readyPid, type Server } from "../service.ts"
import type { Fault } from "./faults.ts"
import { isHeld, seeDecisions } from "./proofs.ts"
import type { Scene } from "./scene.ts"

/** Stops PostgreSQL at once, as `pg_ctl stop -m immediate` does, and waits until it is gone. */
export const stopPostgres = ({ data }: Server) =>
  Effect.suspend(() => {
    const pid = readyPid(data)
    if (pid === null) {
      return Effect.die(new Error("PostgreSQL does not run"))
    }
    Processes.signal(pid, "SIGQUIT")
    return Effect.sync(() => Processes.signal(pid, 0)).pipe(
      Effect.repeat({ until: (isThere) => !isThere, schedule: Schedule.spaced("20 millis") })
    )
  })

/** Copies a folder with its owners. What was at the other place is gone. */
const copy = (from: string, to: string) =>
  Effect.suspend(() => {
    rmSync(to, { recursive: true, force: true })
    const { status, stderr } = spawnSync("cp", ["-a", from, to], { encoding: "utf8" })
    return status === 0 ? Effect.void : Effect.die(new Error(`${from} was not copied: ${stderr}`))
  })

/** Time that passes between a copy and its return, in which the service writes what the copy lacks. */
const AGE = "5 seconds"

/** The service goes on with the copy from here on. */
const undo = ({ undone }: Scene, copiedMs: number) =>
  Effect.sync(() => undone.push({ fromMs: copiedMs, toMs: performance.now() }))

/**
 * PostgreSQL is copied, a key is revoked, and the copy comes back. A process that starts afterwards knows the revocation from
 * Valkey alone, so one of them is started anew.
 */
export const olderPostgres = (scene: Scene): ReadonlyArray<Fault> => {
  const { database } = scene.parts
  const older = join(scene.folder, "older-postgres")
  const keys = { revoked: { id: "", secret: "" }, kept: "" }
  let copiedMs = 0
  const decisions = (isAccepted: boolean, mayChange: boolean) =>
    seeDecisions(
      scene,
      [
        { secret: keys.revoked.secret, isAccepted },
        { secret: keys.kept, isAccepted: true }
      ],
      mayChange
    )
  const issueBoth = Effect.gen(function* () {
    const revoked = yield* issue("chaos-revoked")
    keys.revoked = { id: revoked.key.id, secret: Redacted.value(revoked.secret) }
    keys.kept = Redacted.value((yield* issue("chaos-kept")).secret)
  }).pipe(Effect.provide(keyStore(database.url)), Effect.orDie)
  const revoke = KeyStore.use((store) => store.revoke(keys.revoked.id, COMMAND_LINE)).pipe(
    Effect.provide(keyStore(database.url)),
    Effect.orDie
  )
  /** Every process has to decide like this before the fault begins. */
  const expect = (isAccepted: boolean) =>
    Effect.flatMap(decisions(isAccepted, true), (proof) =>
      isHeld(proof) ? Effect.void : Effect.die(new Error(`keys are decided otherwise: ${JSON.stringify(proof)}`))
    )
  return [
    {
      what: "stopped and copied",
      victims: null,
      begin: Effect.gen(function* () {
        yield* issueBoth
        yield* expect(true)
        yield* stopPostgres(database)
        copiedMs = performance.now()
        yield* copy(database.data, older)
      }),
      held: 0,
      end: database.start
    },
    {
      what: "the copy of earlier",
      victims: null,
      begin: Effect.gen(function* () {
        yield* revoke
        yield* expect(false)
        yield* Effect.sleep(AGE)
        yield* stopPostgres(database)
        yield* copy(older, database.data)
        yield* undo(scene, copiedMs)
      }),
      held: 0,
      end: database.start,
      after: Effect.suspend(() => {
        const place = scene.running.findIndex(({ role }) => role === "api")
        const anew = Effect.andThen(
          Effect.suspend(() => scene.running[place]?.kill ?? Effect.void),
          scene.restart(place)
        )
        return Effect.andThen(anew, decisions(false, false))
      })
    }
  ]
}

/** ClickHouse is copied, goes on, and comes back as the copy. */
export const olderClickHouse = ({ clickHouse, folder }: Scene): ReadonlyArray<Fault> => {
  if (clickHouse === null) {
    return []
  }
  const older = join(folder, "older-clickhouse")
  return [
    {
      what: "killed and copied",
      victims: [],
      begin: Effect.andThen(clickHouse.kill, copy(clickHouse.folder, older)),
      held: 0,
      end: clickHouse.start
    },
    {
      what: "the copy of earlier",
      victims: [],
      begin: Effect.andThen(Effect.sleep(AGE), Effect.andThen(clickHouse.kill, copy(older, clickHouse.folder))),
      held: 0,
      end: clickHouse.start
    }
  ]
}

/** `ROLE`: the part of a service that a process is. */
import { Config, Effect, Option, Schema } from "effect"
import { isRecording } from "../chain/recording/recordSettings.ts"
import { valkeyUrl } from "../storage/valkey/Valkey.ts"
import * as Database from "../storage/Database.ts"
import { chosenMarket } from "./marketSettings.ts"

/** `all` is a whole service in one process. */
export const roles = ["all", "ingest", "api", "live", "keeper"] as const
export type Role = (typeof roles)[number]

/**
 * `ingest` reads the chain and stores its blocks. `api` and `live` answer from the blocks on the bus. `keeper` does
 * that too and evaluates alerts.
 */
export const role: Config.Config<Role> = Config.Literals(roles, "ROLE").pipe(Config.withDefault("all" as const))

/** A role lacks a setting without which it cannot reach the other processes. */
export class RoleIncomplete extends Schema.TaggedError<RoleIncomplete>()("RoleIncomplete", {
  role: Schema.String,
  setting: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `ROLE=${this.role} needs ${this.setting}: ${this.reason}`
  }
}

/** A recording is that of a whole service: accounts and blocks of one process. */
export class RoleCannotRecord extends Schema.TaggedError<RoleCannotRecord>()("RoleCannotRecord", {
  role: Schema.String
}) {
  override get message(): string {
    return `RECORD=on needs ROLE=all: a process with ROLE=${this.role} does not follow the accounts that all of them quote from`
  }
}

/** Fails when the settings of a role are missing, or contradict it. */
export const checkRole: Effect.Effect<void, Config.ConfigError | RoleIncomplete | RoleCannotRecord> = Effect.gen(
  function* () {
    const own = yield* role
    if (own === "all") {
      return
    }
    if (yield* isRecording) {
      return yield* new RoleCannotRecord({ role: own })
    }
    const { url } = yield* Database.settings
    if (Option.isNone(url)) {
      const reason = "keys, trades and alerts are shared through PostgreSQL"
      return yield* new RoleIncomplete({ role: own, setting: "DATABASE_URL", reason })
    }
    if (Option.isNone(yield* valkeyUrl)) {
      const reason = "blocks, budgets and tickets are shared through Valkey or Redis 7"
      return yield* new RoleIncomplete({ role: own, setting: "VALKEY_URL", reason })
    }
    if ((yield* chosenMarket).kind !== "node") {
      const reason =
        "every process reads accounts of the same chain, and a simulated or recorded market is that of one process"
      return yield* new RoleIncomplete({ role: own, setting: "SOLANA_RPC_URL (and no ACCOUNTS_DIR)", reason })
    }
  }
)

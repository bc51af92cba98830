/** `ROLE`: the part of a service that a process is. */
import { Config, Effect, Option, Schema } from "effect"
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

/** Fails when the settings of a role are missing. */
export const checkRole: Effect.Effect<void, Config.ConfigError | RoleIncomplete> = Effect.gen(function* () {
  const own = yield* role
  if (own === "all") {
    return
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
})

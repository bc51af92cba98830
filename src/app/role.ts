/** The part of a service that this process is. */
import { Config, Effect, Option, Schema } from "effect"
import { valkeyUrl } from "../storage/valkey/Valkey.ts"
import * as Database from "../storage/Database.ts"
import { chosenMarket } from "./marketSettings.ts"

/** The parts. `all` is a whole service in one process. */
export const roles = ["all", "ingest", "api", "live", "keeper"] as const
export type Role = (typeof roles)[number]

/**
 * `ROLE`: `ingest` reads the chain and stores its blocks, `api` and `live` answer from the blocks of the bus, and `keeper` does
 * so and evaluates alerts.
 */
export const role: Config.Config<Role> = Config.Literals(roles, "ROLE").pipe(Config.withDefault("all" as const))

/** A setting is missing without which processes of other roles cannot be reached. */
export class RoleIncomplete extends Schema.TaggedError<RoleIncomplete>()("RoleIncomplete", {
  role: Schema.String,
  setting: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `ROLE=${this.role} needs ${this.setting}: ${this.reason}`
  }
}

/** True for a process that evaluates alerts and deletes what is too old: one without a role, or of the role `keeper`. */
export const isKeeper = Effect.map(role, (own) => own === "all" || own === "keeper")

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

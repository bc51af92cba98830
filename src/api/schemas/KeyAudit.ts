/** The record of who changed which key or plan, and of the addresses that first used a key. */
import { Schema } from "effect"
import { field } from "../../domain/field.ts"

/**
 * Where an entry comes from: a session of the app, the command line, a start beside a simulated or recorded market, or
 * a request with the key.
 */
export const ActorKind = Schema.Literals(["session", "command", "start", "key"]).annotate({
  identifier: "KeyActorKind",
  description: "How a change was made: by a session, a command, the start of the service, or the key itself."
})

/** The author of a change of keys. */
export interface KeyActor {
  readonly kind: typeof ActorKind.Type
  /** The account whose keys the actor may change; null for every key. */
  readonly accountId: string | null
  /** Address of the caller; null at the command line and when unknown. */
  readonly address: string | null
}

/** The author of changes at the command line. */
export const COMMAND_LINE: KeyActor = { kind: "command", accountId: null, address: null }

/** A kind of change of a key. `use` is the first use of a key from an address. */
export const KeyAction = Schema.Literals(["create", "change", "rotate", "disable", "enable", "revoke", "use"]).annotate(
  {
    identifier: "KeyAction",
    description: "A change of a key, or its first use."
  }
)
export type KeyAction = typeof KeyAction.Type

export class KeyAuditEntry extends Schema.Opaque<KeyAuditEntry>()(
  Schema.Struct({
    atMs: field(Schema.Int, "Time of the change, in milliseconds since the Unix epoch."),
    actor: ActorKind,
    action: KeyAction,
    keyId: field(Schema.String, "Id of the key that was changed."),
    address: field(Schema.NullOr(Schema.String), "Address of the caller; null at the command line."),
    detail: field(Schema.NullOr(Schema.String), "The changed fields, or the id of the key that replaces this one.")
  }).annotate({ identifier: "KeyAuditEntry", description: "One change of one key." })
) {}

/** A place in a list of entries. Entries below this number follow. */
export interface AuditPage {
  readonly rows: ReadonlyArray<KeyAuditEntry>
  /** Place after the last row when more follow; null on the last page. */
  readonly next: number | null
}

/** One change of one plan. Plans belong to no account, so the command line reads their audit. */
export class PlanAuditEntry extends Schema.Opaque<PlanAuditEntry>()(
  Schema.Struct({
    atMs: Schema.Int,
    actor: ActorKind,
    action: Schema.Literals(["create", "change", "remove"]),
    plan: Schema.String,
    /** The changed limits, with their values before and after. */
    detail: Schema.String
  })
) {}

/** Most addresses of a key whose first use is recorded within a year. */
export const MOST_ADDRESSES = 50

/** Days for which entries are kept. */
export const AUDIT_DAYS = 366

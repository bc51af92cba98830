/** The record of who changed which key. */
import { Schema } from "effect"

/** The origin of a change: a session of the app, the command line, or a start beside a simulated or recorded market. */
export const ActorKind = Schema.Literals(["session", "command", "start"]).annotate({ identifier: "KeyActorKind" })

/** The author of a change of keys. */
export interface KeyActor {
  readonly kind: typeof ActorKind.Type
  /** Keys of other accounts do not exist for the actor; null reaches every key. */
  readonly accountId: string | null
  /** Address of the caller; null at the command line, and where it is unknown. */
  readonly address: string | null
}

/** The author of changes at the command line. */
export const COMMAND_LINE: KeyActor = { kind: "command", accountId: null, address: null }

/** A kind of change of a key. */
export const KeyAction = Schema.Literals(["create", "change", "rotate", "disable", "enable", "revoke"]).annotate({
  identifier: "KeyAction"
})
export type KeyAction = typeof KeyAction.Type

/** One change of one key. */
export class KeyAuditEntry extends Schema.Opaque<KeyAuditEntry>()(
  Schema.Struct({
    atMs: Schema.Int,
    actor: ActorKind,
    action: KeyAction,
    keyId: Schema.String,
    address: Schema.NullOr(Schema.String).annotate({ description: "Address of the caller; null at the command line." }),
    detail: Schema.NullOr(Schema.String).annotate({
      description: "The fields that changed, or the id of the key that replaces this one."
    })
  }).annotate({ identifier: "KeyAuditEntry", description: "One change of one key." })
) {}

/** A place in a list of entries: entries below this number follow. */
export interface AuditPage {
  readonly rows: ReadonlyArray<KeyAuditEntry>
  /** Place after the last row when more follow; null on the last page. */
  readonly next: number | null
}

/** Days for which entries are kept. */
export const AUDIT_DAYS = 366

import { Schema } from "effect"
import { field } from "../../domain/field.ts"

export class ProgramState extends Schema.Opaque<ProgramState>()(
  Schema.Struct({
    dex: field(Schema.String, "Venue label of its pools."),
    state: field(
      Schema.Literals(["unchanged", "proven", "unproven", "wrong", "unknown"]),
      "unchanged: deployed as when it was first seen. proven: swaps executed by this deployment paid what is quoted. unproven: upgraded since, or not provable, and not proven since. wrong: executed swaps differ from quotes. unknown: not read yet, or not deployed."
    ),
    upgraded: field(
      Schema.NullOr(Schema.Boolean),
      "True when the deployment differs from the last proven one or, without a proof, from the first seen one; null while unknown."
    ),
    upgradeable: field(
      Schema.NullOr(Schema.Boolean),
      "False for a program that cannot be upgraded; null while unknown."
    ),
    deployedAtSlot: field(
      Schema.NullOr(Schema.Int),
      "Slot of its last deployment; null while unknown, and under a loader that does not record it."
    ),
    provenAtSlot: field(
      Schema.NullOr(Schema.Int),
      "Slot of the newest state at which this deployment was proven; null without a proof."
    ),
    detail: field(Schema.NullOr(Schema.String), "The cause in words; null without one.")
  }).annotate({
    identifier: "ProgramState",
    description: "The deployment of an AMM program, and the state of its prices."
  })
) {}

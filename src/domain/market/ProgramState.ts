import { Schema } from "effect"

/** The deployment of an AMM program, and the state of its prices. */
export class ProgramState extends Schema.Opaque<ProgramState>()(
  Schema.Struct({
    dex: Schema.String.annotate({ description: "Venue label of its pools." }),
    state: Schema.Literals(["unchanged", "proven", "unproven", "wrong", "unknown"]).annotate({
      description:
        "unchanged: deployed as when it was first seen. proven: swaps executed by this deployment paid what is quoted. unproven: upgraded since, or not provable, and not proven since. wrong: executed swaps differ from quotes. unknown: not read yet, or not deployed."
    }),
    upgraded: Schema.NullOr(Schema.Boolean).annotate({
      description:
        "True when the deployment is another than the one that was proven last or, without a proof, seen first; null while unknown."
    }),
    upgradeable: Schema.NullOr(Schema.Boolean).annotate({
      description: "False for a program that cannot be upgraded; null while unknown."
    }),
    deployedAtSlot: Schema.NullOr(Schema.Int).annotate({
      description: "Slot of its last deployment; null while unknown, and under a loader that keeps none."
    }),
    provenAtSlot: Schema.NullOr(Schema.Int).annotate({
      description: "Slot of the newest state at which this deployment was proven; null where it was not."
    }),
    detail: Schema.NullOr(Schema.String).annotate({ description: "The cause in words; null where there is none." })
  }).annotate({
    identifier: "ProgramState",
    description: "The deployment of an AMM program, and the state of its prices."
  })
) {}

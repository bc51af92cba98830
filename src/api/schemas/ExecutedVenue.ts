import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { field } from "../../domain/field.ts"

export class ExecutedVenue extends Schema.Opaque<ExecutedVenue>()(
  Schema.Struct({
    dex: field(Schema.String, "Venue label of its pools."),
    programId: field(Address, "Address of the program."),
    state: field(
      Schema.Literals(["waiting", "executed", "refused", "learning", "proven"]),
      "waiting: no pool of it was asked for yet, or its bytes are being read. executed: its program pays on a pool in memory. refused: its program or the runtime refuses every swap; detail has the program's error. learning: its swaps are learned from real ones and not quoted yet. proven: learned, and executing the last observed swaps gave what they paid; it is quoted."
    ),
    pools: field(Schema.Int, "Pools on which its program pays."),
    refusedPools: field(Schema.Int, "Pools on which its program refuses every sampled amount."),
    deployedAtSlot: field(Schema.NullOr(Schema.Int), "Slot of the executed deployment; null while unknown."),
    detail: field(Schema.NullOr(Schema.String), "The cause in words; null without one.")
  }).annotate({
    identifier: "ExecutedVenue",
    description: "A venue that is priced by executing its program."
  })
) {}

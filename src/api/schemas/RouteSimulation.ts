import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { Atomic, atomic } from "../../domain/Amount.ts"
import { field } from "../../domain/field.ts"

export class SimulatedHop extends Schema.Opaque<SimulatedHop>()(
  Schema.Struct({
    dex: field(Schema.String, "Key of the venue."),
    pool: field(Address, "Address of the pool."),
    amountIn: atomic("What the program took, in atomic units of the input."),
    amountOut: atomic("What the program paid, in atomic units of the output.")
  }).annotate({ identifier: "SimulatedHop", description: "One swap as its program executed it." })
) {}

export class RouteSimulation extends Schema.Opaque<RouteSimulation>()(
  Schema.Struct({
    state: field(
      Schema.Literals(["executed", "differs", "failed", "not_executed"]),
      "executed: the programs took and paid what is quoted. differs: a hop took or paid another amount. failed: a program refused its swap. not_executed: nothing could be run here; detail says why."
    ),
    atSlot: field(Schema.NullOr(Schema.Int), "Slot of the clock at which the programs ran; null when nothing ran."),
    hops: field(Schema.Array(SimulatedHop), "The swaps that ran, in the order of the route."),
    outAmount: field(
      Schema.NullOr(Atomic),
      "Output of the whole transaction in atomic units of outputMint, before any fee of the service; null when it did not run to its end."
    ),
    computeUnits: field(
      Schema.NullOr(Schema.Int),
      "Compute units of the whole transaction; null when it did not run to its end."
    ),
    differsAt: field(
      Schema.NullOr(Schema.Int),
      "Index in route of the first hop that failed, or took or paid another amount; null when none did."
    ),
    detail: field(Schema.NullOr(Schema.String), "The cause in words; null without one.")
  }).annotate({
    identifier: "RouteSimulation",
    description: "The route, executed by its programs as one transaction on the accounts in memory."
  })
) {}

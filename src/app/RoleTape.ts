/** The tape of a process that is a part of a service. Loaded where `ROLE` is not `all`. */
import { Layer } from "effect"
import * as SharedTape from "../market/bus/SharedTape.ts"
import * as Database from "../storage/Database.ts"
import * as BlockBusValkey from "../storage/valkey/BlockBusValkey.ts"

/** A tape over the bus at this address, which a process of the role `ingest` may also write. */
export const layer = (url: string, mayLead: boolean) =>
  SharedTape.layer(mayLead).pipe(Layer.provide([BlockBusValkey.layer(url), Database.layer]))

/** The package `fathom-client`: promises, plain data, streams and sockets, without dependencies. */
export { fromAtomic, toAtomic } from "../domain/decimal.ts"
export { createClient } from "./createClient.ts"
export { createQuoteClient } from "./createQuoteClient.ts"
export { createDatafeed } from "./createDatafeed.ts"
export { createExchange } from "./createExchange.ts"
export { FathomError } from "./FathomError.ts"
export { watchMarket } from "./watchMarket.ts"
export { watchTracker } from "./watchTracker.ts"

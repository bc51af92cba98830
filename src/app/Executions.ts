/** Quotes by execution. Loaded where `EXECUTE_BUDGET` is above zero. */
import { Layer } from "effect"
import * as Executor from "../quotes/execution/Executor.ts"
import * as QuoteByExecution from "../quotes/execution/QuoteByExecution.ts"

export const layer = QuoteByExecution.layer.pipe(Layer.provide(Executor.layer))

import { Schema } from "effect"
import type { ApiKey } from "./ApiKey.ts"
import { DEFAULT_PLAN, type Plan } from "./Plan.ts"

export type BudgetName = "rest" | "quote"

/** Terms of a budget: `limit` units fit into any `windowMs`. */
export interface BudgetTerms {
  readonly limit: number
  readonly windowMs: number
}

/** The terms of a budget in a plan. */
export const termsOf = (plan: Plan, budget: BudgetName): BudgetTerms => ({
  limit: plan[budget],
  windowMs: plan.windowSeconds * 1000
})

/** The two budgets of a key with the plan `default`. */
export const budgets = { rest: termsOf(DEFAULT_PLAN, "rest"), quote: termsOf(DEFAULT_PLAN, "quote") }

/** The owner of budgets: a key and its limits. */
export type Caller = Pick<ApiKey, "id" | "plan">

/** The budgets of a key: one for reads, one for quotes. */
export const BudgetName = Schema.Literals(["rest", "quote"])

export interface BudgetState {
  readonly budget: BudgetName
  readonly limit: number
  readonly windowMs: number
  /** Units that could be spent right now; never below zero. */
  readonly remaining: number
  /**
   * When the oldest counted unit leaves the window; the present when nothing is counted. Milliseconds since the Unix
   * epoch.
   */
  readonly resetAtMs: number
}

/** Proof of a charge, with what a refund needs. */
export interface Charge extends BudgetState {
  readonly key: string
  readonly cost: number
  /** When the units were charged, in milliseconds since the Unix epoch. */
  readonly atMs: number
  /** Identifies the charge within its limiter, also within one millisecond. */
  readonly seq: number
}

/** The units do not fit into the window; nothing was charged. */
export class BudgetExceeded extends Schema.TaggedError<BudgetExceeded>()("BudgetExceeded", {
  budget: BudgetName,
  cost: Schema.Int,
  limit: Schema.Int,
  windowMs: Schema.Int,
  remaining: Schema.Int,
  /**
   * The first millisecond (Unix epoch) at which the cost fits; one full window away when the cost exceeds the limit.
   */
  fitsAtMs: Schema.Int
}) {}

/** Admission could not be decided. Nothing was charged, and nothing may pass. */
export class LimiterUnavailable extends Schema.TaggedError<LimiterUnavailable>()("LimiterUnavailable", {
  cause: Schema.Defect()
}) {}

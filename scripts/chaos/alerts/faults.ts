/** The faults of the runbooks, and the rules that must fire on each. */

/** One fault of a running service. */
export interface FaultKind {
  readonly fault:
    | "blocks slower than the chain"
    | "blocks that the node cuts in half"
    | "database that does not answer"
    | "disk of the database full"
    | "event loop held"
    | "killed process"
    | "memory taken"
    | "node lost"
    | "none"
    | "readers that do not read"
  /** Rules that must fire; others may. */
  readonly fires: ReadonlyArray<string>
  /** Seconds from the begin of the fault to its last scrape. */
  readonly seconds: number
  /** Multiplies a number that a short run cannot reach: as of so many times the clients. */
  readonly scaled?: { readonly metric: string; readonly by: number }
  /** Times that each scrape stands in the test: as of a fault that is slower by so much. */
  readonly stretch?: number
}

/** The disk of the database. Large enough that the rule on free bytes fires only once it is filled. */
export const DISK_MIB = 1300

/** In the order in which they are provoked. */
export const faults: ReadonlyArray<FaultKind> = [
  { fault: "none", fires: [], seconds: 15 },
  { fault: "blocks that the node cuts in half", fires: ["FathomGapsOpen"], seconds: 30 },
  // The reader loses a slot in two.
  { fault: "blocks slower than the chain", fires: ["FathomBlocksLag"], seconds: 90 },
  { fault: "node lost", fires: ["FathomBlocksLag", "FathomChainLost", "FathomSourceStale"], seconds: 45 },
  {
    fault: "database that does not answer",
    // Requests with a key wait until their deadline.
    fires: ["FathomDatabaseLost", "FathomSlowQuotes", "FathomStoreLags"],
    seconds: 30
  },
  { fault: "event loop held", fires: ["FathomLoopDelayed"], seconds: 30 },
  {
    fault: "readers that do not read",
    fires: ["FathomSlowReaders"],
    seconds: 20,
    scaled: { metric: "fathom_market_unsent_bytes", by: 1000 }
  },
  { fault: "memory taken", fires: ["FathomMemoryGrows"], seconds: 50, stretch: 60 },
  { fault: "disk of the database full", fires: ["FathomDiskFull", "FathomStoreLags"], seconds: 40 },
  { fault: "killed process", fires: ["FathomDown"], seconds: 15 }
]

/** Rules on the speed of the service, which a busy machine fires without a fault. */
const rulesOfSpeed: ReadonlySet<string> = new Set(["FathomLoopDelayed", "FathomSlowQuotes"])

/** Share of the time for which the service may wait for a processor on a machine that counts as quiet. */
const QUIET_SHARE = 0.05

/** The rules that fired without a reason, where no fault was provoked. A busy machine is a reason for rules of speed. */
export const unexplained = (fired: ReadonlyArray<string>, waitedShare: number): ReadonlyArray<string> =>
  waitedShare > QUIET_SHARE ? fired.filter((rule) => !rulesOfSpeed.has(rule)) : fired

/** Rules that no fault of this run provokes, and the reason. Each is evaluated on written samples by a test. */
export const unprovoked = {
  FathomBackupOld: "a backup that was written days ago",
  FathomMemoryLimit: "a container with a limit",
  FathomRestarts: "a process that ends again and again",
  FathomServerErrors: "answers of 500, which are faults of the program",
  FathomAlertsMissed: "an evaluation that falls behind by more blocks than wait for it",
  FathomBusRefuses: "a service of several processes with a full Valkey",
  FathomDecoderDrifts: "a program that changes its instructions or events",
  FathomExecutionRestarts: "a program whose execution ends its thread",
  FathomProgramUnproven: "an upgrade of a program while the service runs",
  FathomQuotesWrong: "an upgraded program whose swaps the service executes (PROVE)",
  FathomSharedStateLost: "a service of several processes with Valkey",
  FathomSpoolFills: "a service with ClickHouse",
  FathomUsageUncounted: "50,000 rows of usage that cannot be stored"
} as const satisfies Readonly<Record<string, string>>

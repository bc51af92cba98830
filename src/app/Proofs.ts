/** Proofs in the background. Loaded where `PROVE` is `on`. */
import { Effect, Layer } from "effect"
import { join } from "node:path"
import * as ProveInBackground from "../quotes/execution/ProveInBackground.ts"
import * as ProverThread from "../quotes/execution/ProverThread.ts"
import { dataDir } from "../storage/Database.ts"

/** Folder in `DATA_DIR` for the fixtures of wrong quotes. */
const FOLDER = "wrong-quotes"

export const layer = Layer.unwrap(
  Effect.map(dataDir, (folder) => ProveInBackground.layer(join(folder, FOLDER)).pipe(Layer.provide(ProverThread.layer)))
)

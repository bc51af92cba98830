/** Loaded before the service: puts its process into the control group `ATTACK_GROUP`, whose limit its children share. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { isMainThread } from "node:worker_threads"

const folder = process.env["ATTACK_GROUP"]
if (isMainThread && folder !== undefined) {
  writeFileSync(join(folder, "cgroup.procs"), String(process.pid))
}

/** Starts, signals and inspects other programs. */
import { Effect } from "effect"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { readFileSync } from "node:fs"

/** A program to run, and the user to run it as. */
export interface Command {
  readonly file: string
  readonly args: ReadonlyArray<string>
  readonly uid?: number | undefined
  readonly gid?: number | undefined
}

// Nothing from the caller's environment: locale, time zone and PG variables would change how PostgreSQL behaves.
const env = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C", TZ: "UTC" }

const optionsOf = ({ gid, uid }: Command) => ({
  cwd: "/",
  env,
  ...(uid === undefined ? {} : { uid }),
  ...(gid === undefined ? {} : { gid })
})

/** Runs a program to its end. Fails with its output when the exit code is not 0. */
export const run = (command: Command): Effect.Effect<void, string> =>
  Effect.callback((resume) => {
    const child = execFile(command.file, command.args, optionsOf(command), (error, stdout, stderr) => {
      resume(error === null ? Effect.void : Effect.fail(`${error.message}\n${stdout}${stderr}`))
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** Starts a program that writes to the open file `log`. Fails when there is no such program. */
export const start = (command: Command, log: number): Effect.Effect<ChildProcess, string> =>
  Effect.callback((resume) => {
    // A session of its own: Ctrl-C in a terminal then stops only this process, which stops the server properly.
    const options = { ...optionsOf(command), detached: true, stdio: ["ignore" as const, log, log] }
    const child = spawn(command.file, command.args, options)
    child.once("spawn", () => resume(Effect.succeed(child)))
    child.once("error", (error) => resume(Effect.fail(error.message)))
  })

/** True when the program has ended. */
export const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

/** Waits until the program has ended. */
export const ended = (child: ChildProcess): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (hasEnded(child)) {
      resume(Effect.void)
      return
    }
    const done = () => resume(Effect.void)
    child.once("exit", done)
    return Effect.sync(() => child.off("exit", done))
  })

/** Sends a signal. False when there is no such process, or this process may not signal it. */
export const signal = (pid: number, name: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

/** The command line of a running process; empty when there is none. */
export const commandLine = (pid: number): Effect.Effect<string> =>
  process.platform === "linux"
    ? Effect.sync(() => readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")).pipe(
        Effect.catchDefect(() => Effect.succeed(""))
      )
    : Effect.callback((resume) => {
        execFile("ps", ["-o", "command=", "-p", String(pid)], { env }, (_, stdout) => resume(Effect.succeed(stdout)))
      })

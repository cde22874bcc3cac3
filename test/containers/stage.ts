/**
 * Runs temporal-docker/compose.yaml in real containers: podman and podman-compose, with images and networks in a folder of their own.
 * This podman starts no health checks by itself (no systemd) and waits for none: what compose does with `depends_on`, the stage does
 * here, in the order and by the conditions of the file.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../..')
const FILE = 'temporal-docker/compose.yaml'

/** Where stand-ins/make.sh installs it, from PyPI. */
const composeProgram = join(
  process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  'quorate/podman-compose-1.6.0/bin/podman-compose',
)

/** What the stage takes of a service in the file. */
export interface ComposeService {
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: object
  readonly profiles?: readonly string[]
}

export const composed = (
  parse(readFileSync(join(root, FILE), 'utf8'), { merge: true }) as { services: Record<string, ComposeService> }
).services

/** Why containers cannot run here; undefined where they can. They take minutes, and are asked for. */
export function whyNoContainers(): string | undefined {
  if (process.env['QUORATE_TEST_CONTAINERS'] === undefined) return 'QUORATE_TEST_CONTAINERS is not set'
  if (process.getuid?.() !== 0) return 'not root'
  const missing = ['podman', 'buildah', 'runc', 'debootstrap', 'go', 'python3'].filter(
    (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0,
  )
  return missing.length > 0 ? `without ${missing.join(', ')}` : undefined
}

/** Of a command that ran in a container. */
export interface RanInside {
  readonly exit: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What podman says of a container that runs. */
export interface Inspected {
  readonly State: { readonly Status: string; readonly Pid: number; readonly ExitCode: number }
  readonly RestartCount: number
  readonly Config: { readonly Env: readonly string[]; readonly User: string }
  readonly HostConfig: { readonly ReadonlyRootfs: boolean }
}

export type Stage = ReturnType<typeof openStage>

/** How long a container may take to become healthy, and a program that ends to end. */
const PATIENCE_MS = 120_000

/** Makes the stand-ins for the published images, and builds the image of this repository. */
export function openStage() {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-containers-'))
  const env = { ...process.env, ...writeSettings(folder) }
  const podman = (...args: string[]) =>
    execFileSync('podman', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const compose = (...args: string[]) => {
    const done = spawnSync(composeProgram, ['--file', FILE, ...args], { cwd: root, env, encoding: 'utf8' })
    return { exit: done.status, stdout: done.stdout, stderr: done.stderr } satisfies RanInside
  }
  const nameOf = (service: string) => `quorate_${service}_1`
  const inspect = (service: string) => (JSON.parse(podman('inspect', nameOf(service))) as Inspected[])[0]!
  const logs = (service: string) => {
    const said = spawnSync('podman', ['logs', '--tail', '30', nameOf(service)], { env, encoding: 'utf8' })
    return `${said.stdout}${said.stderr}`
  }

  async function meets(service: string, condition: string): Promise<void> {
    const until = Date.now() + PATIENCE_MS
    for (;;) {
      const { State } = inspect(service)
      if (condition === 'service_completed_successfully') {
        // It stays at `stopped` where podman was not let clean up after it.
        const ended = State.Status === 'exited' || State.Status === 'stopped'
        if (ended && State.ExitCode === 0) return
        if (ended) throw new Error(`${service} ended with ${State.ExitCode}:\n${logs(service)}`)
      } else if (spawnSync('podman', ['healthcheck', 'run', nameOf(service)], { env }).status === 0) return
      if (Date.now() > until)
        throw new Error(`${service}: ${State.Status}, not ${condition} in time:\n${logs(service)}`)
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }

  return {
    folder,
    inspect,
    logs,
    compose,
    meets,
    /** Runs the image's shell in a container that runs. */
    exec: (service: string, ...command: string[]): RanInside => {
      const ran = spawnSync('podman', ['exec', nameOf(service), ...command], { env, encoding: 'utf8' })
      return { exit: ran.status, stdout: ran.stdout, stderr: ran.stderr }
    },
    /** Types lines of a page into a shell at the root of the repository; `docker` is podman there. */
    type: (lines: string): string =>
      execFileSync('bash', ['-euo', 'pipefail', '-c', lines], {
        cwd: root,
        env: { ...env, PATH: `${folder}:${process.env['PATH']}` },
        encoding: 'utf8',
      }),
    /** Runs `quorate` as temporal-docker/README.md says, beside the worker. */
    quorate: (folders: Readonly<Record<string, string>>, ...args: string[]): RanInside => {
      const volumes = Object.entries(folders).flatMap(([from, to]) => ['--volume', `${from}:${to}`])
      return compose('run', '--rm', '--no-deps', '-T', ...volumes, 'worker', ...args)
    },
    make(): void {
      execFileSync(join(root, 'test/containers/stand-ins/make.sh'), [folder], {
        env,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const npm = join(homedir(), '.npm')
      mkdirSync(npm, { recursive: true })
      // A build runs here without a machine of its own; npm reaches the registry as this machine does.
      // Docker's form of images has health checks, podman's own has none.
      const options = `--format=docker --isolation=chroot --network=host --volume=${npm}:/root/.npm`
      // Where a page says `docker`.
      const docker = `#!/bin/sh
case $1 in
  build) shift; exec podman build ${options} "$@" ;;
  compose)
    # What it depends on runs; there is no terminal.
    for word; do shift; [ "$word" = compose ] || set -- "$@" "$word"; [ "$word" != run ] || set -- "$@" --no-deps -T; done
    exec ${composeProgram} "$@" ;;
  *) exec podman "$@" ;;
esac
`
      writeFileSync(join(folder, 'docker'), docker, { mode: 0o755 })
      const built = compose(`--podman-build-args=${options}`, 'build', 'secrets')
      if (built.exit !== 0) throw new Error(`the image was not built:\n${built.stderr.slice(-4_000)}`)
    },
    /** `compose up --detach`, with the profiles that are asked for. */
    async up(profiles: readonly string[] = []): Promise<void> {
      const wanted = Object.entries(composed).filter(
        ([, service]) => service.profiles?.every((profile) => profiles.includes(profile)) ?? true,
      )
      const begun = new Set<string>()
      const begin = async ([name, { depends_on = {} }]: readonly [string, ComposeService]): Promise<void> => {
        for (const [other, { condition }] of Object.entries(depends_on)) {
          if (!begun.has(other)) await begin([other, composed[other]!])
          await meets(other, condition)
        }
        if (begun.has(name)) return
        begun.add(name)
        const flags = profiles.flatMap((profile) => ['--profile', profile])
        const started = compose(...flags, 'up', '--detach', '--no-deps', '--no-build', name)
        if (started.exit !== 0) throw new Error(`${name} did not start:\n${started.stderr}`)
      }
      for (const service of wanted) await begin(service)
      for (const [name, { healthcheck }] of wanted) if (healthcheck) await meets(name, 'service_healthy')
    },
    down(...flags: string[]): void {
      const ended = compose('--profile', 'ui', 'down', ...flags)
      if (ended.exit !== 0) throw new Error(`not brought down:\n${ended.stderr}`)
    },
    /** Kills the first process of a container, as the kernel does when memory is short. */
    kill(service: string): void {
      process.kill(inspect(service).State.Pid, 'SIGKILL')
    },
    close(): void {
      spawnSync('podman', ['rm', '--all', '--force', '--time', '1'], { env })
      spawnSync('podman', ['network', 'prune', '--force'], { env })
      // Podman leaves its storage mounted.
      spawnSync('umount', ['--recursive', '--lazy', join(folder, 'images/overlay')])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Settings with which podman runs where there is no systemd; all that it keeps is in the folder. */
function writeSettings(folder: string): Record<string, string> {
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  return {
    CONTAINERS_STORAGE_CONF: write(
      'storage.conf',
      `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/images"\nrunroot = "${folder}/run"\n`,
    ),
    CONTAINERS_CONF: write(
      'containers.conf',
      `[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n[engine]\ncgroup_manager = "cgroupfs"\n` +
        `runtime = "runc"\nevents_logger = "file"\n[network]\nnetwork_config_dir = "${folder}/networks"\n`,
    ),
    CONTAINERS_REGISTRIES_CONF: write('registries.conf', 'unqualified-search-registries = ["docker.io"]\n'),
  }
}

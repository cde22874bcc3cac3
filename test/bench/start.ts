/**
 * Starting a command: CPU and wall of each, as it is shipped, beside `node -e 0` in the same run. What a command has compiled is
 * kept between runs, as it is from the second run of it on. Medians of some rounds, in each of which every command runs once, so
 * that a machine that slows down slows all of them.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, globSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { startQuorate as Start } from '../../src/testing/index.ts'

const ROUNDS = 9
const ROOT = join(import.meta.dirname, '../..')
const ACME = join(ROOT, 'definitions/acme')

interface Row {
  readonly name: string
  readonly args: readonly string[]
  /** Most times the CPU of `node -e 0`. */
  readonly aim?: number
}

/** Prints a line a command; the process exits with 1 when an aim is missed. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-bench-'))
  chmodSync(folder, 0o700)
  try {
    copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'))
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    execFileSync(process.execPath, [join(ROOT, 'src/build/build.ts'), join(folder, 'dist/bin')])
    const { startQuorate } = (await import(join(folder, 'dist/bin/start-quorate.js'))) as { startQuorate: typeof Start }
    await using service = await startQuorate({ definitions: ACME })
    const keyFile = join(folder, 'alice.json')
    writeFileSync(keyFile, JSON.stringify(service.keys[service.rootUserName]), { mode: 0o600 })
    const given = Object.entries(service.keys).flatMap(([name, { publicKey }]) => [
      '--var',
      `${name}PublicKey=${publicKey}`,
    ])
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      QUORATE_DATA_DIR: join(folder, 'data'),
      QUORATE_BASE_URL: service.url,
      QUORATE_ORGANIZATION_ID: service.organizationId,
      QUORATE_API_KEY_FILE: keyFile,
      ACME_ORGANIZATION_ID: service.organizationId,
    }
    const main = join(folder, 'dist/bin/main.js')
    const rows: readonly Row[] = [
      { name: 'node -e 0', args: ['-e', '0'] },
      { name: 'quorate --help', args: [main, '--help'], aim: 1.5 },
      { name: 'quorate completion bash', args: [main, 'completion', 'bash'], aim: 1.5 },
      { name: 'quorate validate, acme', args: [main, 'validate', ACME, ...given], aim: 5 },
      { name: 'quorate plan, acme, no change', args: [main, 'plan', ACME, ...given], aim: 8 },
      { name: 'quorate whoami', args: [main, 'whoami'] },
      { name: 'quorate approvals', args: [main, 'approvals'] },
      { name: 'quorate policy lint, acme', args: [main, 'policy', 'lint', ACME, ...given] },
    ]
    report(measure(rows, env))
    reportSize(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What is installed: the program as it is built, beside the packages that npm puts next to it. */
function reportSize(folder: string): void {
  const sizes = globSync('dist/bin/**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).toString(),
  ) as readonly { readonly size: number; readonly unpackedSize: number }[]
  const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`
  console.log(`the program: ${sizes.length} files, ${mib(total)}`)
  console.log(
    `the package, as npm packs what \`npm run build\` last wrote: ${mib(packed!.size)}, installed ${mib(packed!.unpackedSize)}`,
  )
}

interface Figures extends Row {
  readonly cpuMs: number
  readonly wallMs: number
}

function measure(rows: readonly Row[], env: Readonly<Record<string, string | undefined>>): readonly Figures[] {
  const times = rows.map(() => [] as { readonly cpuMs: number; readonly wallMs: number }[])
  // The first round fills the compile cache.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, { args }] of rows.entries()) {
      const took = timeOf(args, env)
      if (round > 0) times[index]!.push(took)
    }
  }
  return rows.map((row, index) => ({
    ...row,
    cpuMs: median(times[index]!.map(({ cpuMs }) => cpuMs)),
    wallMs: median(times[index]!.map(({ wallMs }) => wallMs)),
  }))
}

/** Timed by the shell, which is told by the system what its child has used. */
function timeOf(args: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  const script = 'TIMEFORMAT="%3U %3S %3R"; { time "$@" >/dev/null 2>"$0"; }'
  const said = join(env['HOME']!, 'said')
  const { stderr, status } = spawnSync('bash', ['-c', script, said, process.execPath, ...args], {
    env: { ...env, LC_ALL: 'C' },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${args.slice(1).join(' ')} ended with ${status}: ${execFileSync('cat', [said])}`)
  const [user, system, wall] = stderr.trim().split(' ').map(Number)
  return { cpuMs: (user! + system!) * 1000, wallMs: wall! * 1000 }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

function report(figures: readonly Figures[]): void {
  const [base] = figures
  console.log('command                          CPU ms  wall ms  times node -e 0')
  for (const { name, cpuMs, wallMs, aim } of figures) {
    const ratio = cpuMs / base!.cpuMs
    const verdict = aim === undefined ? '' : `  ${ratio <= aim ? 'met' : 'MISSED'}: aim ${aim}`
    if (aim !== undefined && ratio > aim) process.exitCode = 1
    console.log(
      `${name.padEnd(32)} ${cpuMs.toFixed(0).padStart(6)} ${wallMs.toFixed(0).padStart(8)} ${ratio.toFixed(1).padStart(8)}${verdict}`,
    )
  }
}

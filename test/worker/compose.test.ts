/** Shows that the files say what they must; test/containers runs them. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseDocument } from 'yaml'
import { settingRows } from '../../src/config/index.ts'
import { CERTIFICATE_FILES } from '../../src/worker/certificate-files.ts'

const root = join(import.meta.dirname, '../..')
const document = parseDocument(readFileSync(join(root, 'temporal-docker/compose.yaml'), 'utf8'), { merge: true })
const compose = document.toJS() as {
  services: Record<
    string,
    {
      image?: string
      user?: string
      read_only?: boolean
      cap_drop?: string[]
      networks?: string[]
      network_mode?: string
      entrypoint?: string[]
      command?: string[]
      profiles?: string[]
      build?: { context: string; dockerfile: string }
      ports?: string[]
      healthcheck?: { test: unknown }
      volumes?: string[]
      depends_on?: Record<string, { condition: string }>
      environment?: Record<string, string>
    }
  >
  volumes: Record<string, unknown>
  networks: Record<string, { internal?: boolean } | null>
}
const services = Object.entries(compose.services)

/** They do their work and end. */
const ENDING: ReadonlySet<string> = new Set([
  'secrets',
  'temporal-schema',
  'temporal-namespace',
  'migrate',
  'worker-key',
])

describe('compose file', () => {
  test('parses without a fault and holds its parts', () => {
    expect(document.errors).toEqual([])
    expect(Object.keys(compose.services)).toEqual([
      'secrets',
      'postgres',
      'temporal-schema',
      'temporal',
      'temporal-namespace',
      'temporal-ui',
      'migrate',
      'service',
      'proxy',
      'worker-key',
      'worker',
    ])
  })

  test('asks for nothing: no variable of it must be set', () => {
    const text = readFileSync(join(root, 'temporal-docker/compose.yaml'), 'utf8')
    expect(text.match(/(?<!\$)\$\{/g)).toBeNull()
  })

  test.each(services)(
    '%s has a health check unless it ends, and an image with a version or one that is built here',
    (name, service) => {
      if (!ENDING.has(name)) expect(service.healthcheck?.test).toBeTruthy()
      if (service.build)
        expect(existsSync(join(root, 'temporal-docker', service.build.context, service.build.dockerfile))).toBe(true)
      else expect(service.image).toMatch(/:(?!latest)[\w.-]+$/)
    },
  )

  test.each(services)(
    '%s writes into its volumes alone, without rights, and is on the networks that it needs',
    (_, service) => {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
      // The image of this repository has a user of its own.
      if (!service.build) expect(service.user).toMatch(/^(postgres|1000:1000)$/)
      if (service.network_mode !== undefined) expect(service.network_mode).toBe('none')
      else for (const name of service.networks!) expect(Object.keys(compose.networks)).toContain(name)
      expect(Object.keys(compose.networks).filter((name) => !compose.networks[name]?.internal)).toEqual(['published'])
    },
  )

  test('what is published is published on the loopback interface', () => {
    const ports = services.flatMap(([, { ports = [] }]) => ports)
    expect(ports.length).toBeGreaterThan(0)
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
  })

  test('what is waited for is there and can become healthy; named volumes are declared', () => {
    for (const [, { depends_on = {}, volumes = [] }] of services) {
      for (const [name, { condition }] of Object.entries(depends_on)) {
        const wanted = ENDING.has(name) ? 'service_completed_successfully' : 'service_healthy'
        expect([name in compose.services, condition]).toEqual([true, wanted])
      }
      for (const volume of volumes) {
        const [from] = volume.split(':')
        if (from!.startsWith('./')) expect(existsSync(join(root, 'temporal-docker', from!))).toBe(true)
        else expect(Object.keys(compose.volumes)).toContain(from)
      }
    }
  })

  test('the worker is configured by settings that exist, and no secret stands in an environment', () => {
    const known = new Set<string>([
      ...Object.values(settingRows).map(({ environment }) => environment),
      'TEMPORAL_ADDRESS',
      'TEMPORAL_TLS_CLIENT_CERT_PATH',
      'TEMPORAL_TLS_CLIENT_KEY_PATH',
      'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
      'TEMPORAL_TLS_SERVER_NAME',
      'NODE_EXTRA_CA_CERTS',
    ])
    expect(Object.keys(compose.services.worker!.environment!).filter((name) => !known.has(name))).toEqual([])
    const secrets = services.flatMap(([, { environment = {} }]) =>
      Object.entries(environment).filter(([name]) => /PASSWORD|PWD|DATABASE_URL|(?<!TLS.*)KEY$/.test(name)),
    )
    expect(secrets.length).toBeGreaterThan(0)
    // A file, nothing, or a URL without a password.
    for (const [name, value] of secrets)
      expect([name, value]).toEqual([
        name,
        expect.stringMatching(/^(\/[\w/-]+|postgresql:\/\/\w+@postgres\/\w+\?.*|)$/),
      ])
  })
})

describe('compose file: who may call Temporal', () => {
  const { temporal, worker, 'temporal-ui': ui, 'temporal-namespace': namespace, secrets } = compose.services
  const read = (name: string) => readFileSync(join(root, 'temporal-docker', name), 'utf8')
  const at = '/secrets/temporal/tls'

  test('Temporal wants client certificates on every port, has no HTTP port, and is not published', () => {
    const config = parseDocument(read('temporal.yaml'), { merge: true }).toJS()
    const { authority, server } = CERTIFICATE_FILES
    const ends = {
      server: {
        requireClientAuth: true,
        certFile: `${at}/${server.certificate}`,
        keyFile: `${at}/${server.key}`,
        clientCaFiles: [`${at}/${authority}`],
      },
      client: { serverName: 'temporal', rootCaFiles: [`${at}/${authority}`] },
    }
    expect(config.global.tls).toMatchObject({ internode: ends, frontend: ends })
    const { frontend, ...inner } = config.services
    expect(frontend.rpc.httpPort).toBeUndefined()
    for (const { rpc } of Object.values(inner) as { rpc: object }[])
      expect(rpc).toMatchObject({ bindOnLocalHost: true })
    expect(temporal!.ports).toBeUndefined()
    expect(parseDocument(read('dynamic-config.yaml')).toJS()).toEqual({ 'system.enableRingpopTLS': [{ value: true }] })
  })

  test('server, worker, UI and who makes the namespace know each other by the files that are made', () => {
    expect(secrets!.volumes).toContain('secrets-temporal:/secrets/temporal')
    expect(read('make-secrets.sh')).toContain(`node dist/src/worker/make-certificates.js ${at} temporal`)
    for (const program of ['make-certificates', 'make-namespace', 'check-health'])
      expect(existsSync(join(root, `src/worker/${program}.ts`))).toBe(true)
    const { authority, client } = CERTIFICATE_FILES
    const own = {
      TEMPORAL_TLS_CLIENT_CERT_PATH: `${at}/${client.certificate}`,
      TEMPORAL_TLS_CLIENT_KEY_PATH: `${at}/${client.key}`,
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: `${at}/${authority}`,
      TEMPORAL_TLS_SERVER_NAME: 'temporal',
    }
    for (const part of [worker!, namespace!]) expect(part.environment).toMatchObject(own)
    expect(parseDocument(read('ui.yaml')).toJS().tls).toMatchObject({
      certFile: `${at}/${client.certificate}`,
      keyFile: `${at}/${client.key}`,
      caFile: `${at}/${authority}`,
    })
    for (const part of [temporal!, worker!, ui!, namespace!])
      expect(part.volumes).toContain('secrets-temporal:/secrets/temporal:ro')
  })

  test('the file that people put a private key into is ignored by Git', () => {
    const { secrets, services: own } = parseDocument(
      readFileSync(join(root, 'temporal-docker/own-key.yaml'), 'utf8'),
    ).toJS() as {
      readonly secrets: { readonly api_key: { readonly file: string } }
      readonly services: typeof compose.services
    }
    const path = /^\$\{QUORATE_API_KEY_FILE:-\.\/(.+)\}$/.exec(secrets.api_key.file)![1]
    expect(readFileSync(join(root, '.gitignore'), 'utf8').split('\n')).toContain(`/temporal-docker/${path}`)
    expect(Object.keys(own)).toEqual(['worker'])
    expect(own['worker']!.environment!['QUORATE_API_KEY_FILE']).toBe('/run/secrets/api_key')
  })

  test('the worker is of the organization that the service has made, unless another is given', () => {
    const folder = mkdtempSync(join(tmpdir(), 'quorate-compose-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const { entrypoint, environment } = worker!
    expect(environment!['QUORATE_API_KEY_FILE']).toBe('/worker-key/bootstrap.json')
    mkdirSync(join(folder, 'dist/bin'), { recursive: true })
    writeFileSync(
      join(folder, 'dist/bin/main.js'),
      'console.log(process.env.QUORATE_ORGANIZATION_ID, ...process.argv.slice(2))',
    )
    const bootstrap = join(folder, 'bootstrap.json')
    writeFileSync(bootstrap, JSON.stringify({ organizationId: 'made-by-the-service' }))
    const start = (given: Readonly<Record<string, string>>) => {
      // As compose reads it: `$$` is a `$` of the shell.
      const [program, ...parts] = entrypoint!.map((part) => part.replaceAll('$$', '$'))
      const { PATH } = process.env
      const env = { PATH, QUORATE_API_KEY_FILE: bootstrap, ...given }
      return execFileSync(program!, [...parts, 'worker', '--metrics-port', '0'], { cwd: folder, env, encoding: 'utf8' })
    }
    expect(start({})).toBe('made-by-the-service worker --metrics-port 0\n')
    expect(start({ QUORATE_ORGANIZATION_ID: 'another' })).toBe('another worker --metrics-port 0\n')
  })

  test('the namespace is waited for', () => {
    expect(namespace!.entrypoint).toEqual(['node', 'dist/src/worker/make-namespace.js', 'default', '7'])
    expect(worker!.depends_on).toMatchObject({ 'temporal-namespace': { condition: 'service_completed_successfully' } })
  })

  test('the UI, which asks nobody who they are, starts only when asked for and changes nothing', () => {
    expect(ui!.profiles).toEqual(['ui'])
    expect(parseDocument(read('ui.yaml')).toJS()).toMatchObject({ disableWriteActions: true })
  })
})

describe('image', () => {
  const dockerfile = readFileSync(join(root, 'temporal-docker/Dockerfile'), 'utf8')

  test('runs the built bin as a user without rights', () => {
    const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { bin: { quorate: string } }
    expect(dockerfile).toContain(`"${bin.quorate}"`)
    expect(dockerfile).toMatch(/^USER node$/m)
  })
})

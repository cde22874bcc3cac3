/** Shows that the files say what they must; temporal-docker/README.md says what was seen when they ran. */
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
      entrypoint?: string[]
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
}
const services = Object.entries(compose.services)

describe('compose file', () => {
  test('parses without a fault and holds its parts', () => {
    expect(document.errors).toEqual([])
    expect(Object.keys(compose.services)).toEqual([
      'certificates',
      'postgres',
      'temporal',
      'temporal-ui',
      'service',
      'worker',
    ])
  })

  test.each(services)(
    '%s has a health check unless it ends, and an image with a version or one that is built here',
    (name, service) => {
      if (name !== 'certificates') expect(service.healthcheck?.test).toBeTruthy()
      if (service.build)
        expect(existsSync(join(root, 'temporal-docker', service.build.context, service.build.dockerfile))).toBe(true)
      else expect(service.image).toMatch(/:(?!latest)[\w.-]+$/)
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
        const wanted = name === 'certificates' ? 'service_completed_successfully' : 'service_healthy'
        expect([name in compose.services, condition]).toEqual([true, wanted])
      }
      for (const volume of volumes) {
        const [from] = volume.split(':')
        if (from!.startsWith('./')) expect(existsSync(join(root, 'temporal-docker', from!))).toBe(true)
        else expect(Object.keys(compose.volumes)).toContain(from)
      }
    }
  })

  test('the worker is configured by settings that exist, and no secret stands in the file', () => {
    const known = new Set<string>([
      ...Object.values(settingRows).map(({ environment }) => environment),
      'TEMPORAL_ADDRESS',
      'TEMPORAL_TLS_CLIENT_CERT_PATH',
      'TEMPORAL_TLS_CLIENT_KEY_PATH',
      'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
      'TEMPORAL_TLS_SERVER_NAME',
    ])
    expect(Object.keys(compose.services.worker!.environment!).filter((name) => !known.has(name))).toEqual([])
    const passwords = services.flatMap(([, { environment = {} }]) =>
      Object.entries(environment).filter(([name]) => /PASSWORD|PWD|(?<!TLS.*)KEY$/.test(name)),
    )
    expect(passwords.length).toBeGreaterThan(0)
    for (const [, value] of passwords) expect(value).toMatch(/^\$\{\w+:\?/)
  })
})

describe('compose file: who may call Temporal', () => {
  const { temporal, worker, 'temporal-ui': ui, certificates } = compose.services

  test('Temporal wants client certificates on every port, has no HTTP port, and is not published', () => {
    expect(temporal!.environment).toMatchObject({
      TEMPORAL_TLS_REQUIRE_CLIENT_AUTH: 'true',
      FRONTEND_HTTP_PORT: '0',
    })
    expect(temporal!.ports).toBeUndefined()
    const dynamic = readFileSync(join(root, 'temporal-docker/dynamic-config.yaml'), 'utf8')
    expect(parseDocument(dynamic).toJS()).toEqual({ 'system.enableRingpopTLS': [{ value: true }] })
  })

  test('server, worker, UI and the command inside know each other by the files that are made', () => {
    const at = '/certificates/temporal'
    expect(certificates!.entrypoint).toEqual(['node', 'dist/src/worker/make-certificates.js', at, 'temporal'])
    expect(existsSync(join(root, 'src/worker/make-certificates.ts'))).toBe(true)
    const { authority, server, client } = CERTIFICATE_FILES
    const own = {
      TEMPORAL_TLS_CLIENT_CERT_PATH: `${at}/${client.certificate}`,
      TEMPORAL_TLS_CLIENT_KEY_PATH: `${at}/${client.key}`,
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: `${at}/${authority}`,
      TEMPORAL_TLS_SERVER_NAME: 'temporal',
    }
    expect(worker!.environment).toMatchObject(own)
    expect(temporal!.environment).toMatchObject({
      ...own,
      TEMPORAL_TLS_SERVER_CA_CERT: `${at}/${authority}`,
      TEMPORAL_TLS_SERVER_CERT: `${at}/${server.certificate}`,
      TEMPORAL_TLS_SERVER_KEY: `${at}/${server.key}`,
      TEMPORAL_TLS_FRONTEND_CERT: `${at}/${server.certificate}`,
      TEMPORAL_TLS_FRONTEND_KEY: `${at}/${server.key}`,
      TEMPORAL_TLS_CLIENT1_CA_CERT: `${at}/${authority}`,
    })
    expect(ui!.environment).toMatchObject({
      TEMPORAL_TLS_CERT: `${at}/${client.certificate}`,
      TEMPORAL_TLS_KEY: `${at}/${client.key}`,
      TEMPORAL_TLS_CA: `${at}/${authority}`,
    })
    for (const part of [temporal!, worker!, ui!]) expect(part.volumes).toContain('certificates:/certificates:ro')
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
    expect(environment!['QUORATE_API_KEY_FILE']).toBe('/data/service/bootstrap.json')
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

  test('Temporal is waited for until the namespace is there', () => {
    expect(temporal!.healthcheck!.test).toEqual([
      'CMD',
      'temporal',
      'operator',
      'namespace',
      'describe',
      '--namespace',
      'default',
    ])
  })

  test('the UI, which asks nobody who they are, starts only when asked for and changes nothing', () => {
    expect(ui!.profiles).toEqual(['ui'])
    expect(ui!.environment).toMatchObject({ TEMPORAL_DISABLE_WRITE_ACTIONS: 'true' })
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

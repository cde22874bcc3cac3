/** Who could get a power by moves: by example, and held against trying every move on concrete states, which knows nothing of the analysis. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type IndirectPowers, indirectPowersOf, powersOf, waysOf } from '../../src/analysis/index.ts'
import { createPolicyCompiler, policiesOf } from '../../src/analysis/policies.ts'
import { votersOf } from '../../src/authority/index.ts'
import { authorize, mayVote, type PolicyContext, type Voter } from '../../src/policy/index.ts'
import { organizationOf, type Resource } from '../../src/resources/index.ts'
import { actualOf, idFor, key, live, policy } from '../plan/organization.ts'
import { runs } from '../runs.ts'
import { CFO, is, NAMES, NOW, OPS, office, tagged, told } from './office.ts'

const pathsOf = ({ rows }: IndirectPowers) =>
  rows.flatMap(({ paths }) =>
    paths.map(({ people, steps }) => [
      people.join(' '),
      steps.map(({ activity }) => activity.replace('ACTIVITY_TYPE_', '')),
    ]),
  )

describe('indirect', () => {
  const byPasskey = `credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR') && !${is('alice')}`
  const signs = live('policy.ops', policy(tagged(OPS), "activity.action == 'SIGN'"))
  const deny = live('policy.no', policy(null, "activity.action == 'SIGN'", 'deny'))
  const may = (condition: string, who = is('bob')) => live('policy.may', policy(who, condition))
  const cases: readonly [string, readonly Resource[], readonly string[], (readonly Resource[])?][] = [
    ['tags', [signs, may("activity.type == 'ACTIVITY_TYPE_UPDATE_USER_TAG'")], ['bob'], []],
    ['users', [signs, may("activity.type == 'ACTIVITY_TYPE_CREATE_USERS_V3'")], ['bob'], []],
    ['another version', [signs, may("activity.type == 'ACTIVITY_TYPE_CREATE_USERS'")], ['bob'], []],
    ['keys of others', [may("activity.type == 'ACTIVITY_TYPE_CREATE_API_KEYS_V2'")], ['bob'], []],
    ['an e-mail that logs nobody in', [may("activity.type == 'ACTIVITY_TYPE_UPDATE_USER_EMAIL'")], [], []],
    [
      'an e-mail that logs in',
      [may("activity.type == 'ACTIVITY_TYPE_UPDATE_USER_EMAIL'")],
      ['bob'],
      [live('feature.EMAIL_AUTH')],
    ],
    [
      'a phone number that logs in',
      [may("activity.type == 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER'")],
      ['bob'],
      [live('feature.SMS_AUTH')],
    ],
    ['policies', [may("activity.resource == 'POLICY'")], ['bob'], []],
    ['policies, past a DENY', [may("activity.resource == 'POLICY'"), deny], ['bob'], []],
    [
      'new policies alone, not past a DENY',
      [
        may("activity.type == 'ACTIVITY_TYPE_CREATE_POLICIES'"),
        live(
          'policy.no',
          policy(
            null,
            "activity.action == 'SIGN' || activity.action == 'DELETE' || activity.action == 'UPDATE' || activity.resource == 'CREDENTIAL'",
            'deny',
          ),
        ),
      ],
      [],
      [],
    ],
    [
      'a DENY that is deleted',
      [
        live('policy.all', policy(is('bob'), "activity.action == 'SIGN'")),
        deny,
        may("activity.type == 'ACTIVITY_TYPE_DELETE_POLICY'"),
      ],
      ['bob'],
      [],
    ],
    [
      'a tag that is taken off',
      [
        live(
          'policy.none',
          policy(
            `approvers.filter(u, u.tags.contains('${CFO}')).count() == 0 && ${is('bob')}`,
            "activity.action == 'SIGN'",
          ),
        ),
        may("activity.type == 'ACTIVITY_TYPE_UPDATE_USER_TAG'"),
      ],
      ['bob'],
      [],
    ],
    [
      'a tag that is deleted, where a policy asks for its absence',
      [
        live(
          'policy.none',
          policy(
            `approvers.filter(u, u.tags.contains('${CFO}')).count() == 0 && ${is('bob')}`,
            "activity.action == 'SIGN'",
          ),
        ),
        may("activity.type == 'ACTIVITY_TYPE_DELETE_USER_TAGS'"),
      ],
      ['bob'],
      [],
    ],
    [
      'a tag that is deleted, where a DENY asks for it',
      [
        live('policy.bob', policy(is('bob'), "activity.action == 'SIGN'")),
        live('policy.none', policy(tagged(CFO), "activity.action == 'SIGN'", 'deny')),
        may("activity.type == 'ACTIVITY_TYPE_DELETE_USER_TAGS'"),
      ],
      ['bob'],
      [],
    ],
    [
      'no tag that is deleted, where policies ask who wears it',
      [signs, may("activity.type == 'ACTIVITY_TYPE_DELETE_USER_TAGS'")],
      [],
      [],
    ],
    [
      'a count that new users meet',
      [
        live('policy.three', policy('approvers.count() >= 3', "activity.action == 'SIGN'")),
        may("activity.type == 'ACTIVITY_TYPE_CREATE_USERS_V3'"),
      ],
      ['bob'],
      [],
    ],
    [
      'a key of a kind that one can add',
      [
        live(
          'policy.kind',
          policy(
            `credentials.any(c, c.type == 'CREDENTIAL_TYPE_API_KEY_SECP256K1') && ${is('bob')}`,
            "activity.action == 'SIGN'",
          ),
        ),
      ],
      ['bob'],
      [],
    ],
    [
      'an e-mail address, not a name',
      [
        live('policy.carol', policy("approvers.any(u, u.alias == 'the signer')", "activity.action == 'SIGN'")),
        may("activity.type == 'ACTIVITY_TYPE_UPDATE_USER_EMAIL'"),
      ],
      [],
      [],
    ],
    [
      'a passkey of one’s own, where a policy asks others for it too',
      [
        live('policy.kind', policy(byPasskey, "activity.action == 'SIGN'")),
        may("activity.type == 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2'", 'approvers.count() >= 4'),
      ],
      [],
      [],
    ],
    [
      'two moves',
      [
        live('policy.a', policy(tagged(CFO), "activity.resource == 'CREDENTIAL'")),
        may("activity.type == 'ACTIVITY_TYPE_UPDATE_USER_TAG'"),
      ],
      ['bob'],
      [],
    ],
  ]
  test.each(cases)('by %s', (_, policies, expected, extra = []) => {
    const result = told(office({ bob: policies.some(({ name }) => name === 'none') ? [CFO] : [] }, policies, extra))
    expect([...new Set(pathsOf(result).map(([people]) => people))].sort()).toEqual(expected)
    expect(result.limits).toEqual([])
  })

  test('credentials of one’s own are told by the activity that suffices, and unless a DENY holds that holds at times', () => {
    const signsBy = (type: string, more = '') =>
      live(
        `policy.${type}`,
        policy(
          `credentials.any(c, c.type == 'CREDENTIAL_TYPE_${type}') && ${is('bob')}${more}`,
          "activity.action == 'SIGN'",
        ),
      )
    const no = (activity: string, time: string | null = null) =>
      live(`policy.no-${activity}`, {
        ...policy(null, `activity.type == 'ACTIVITY_TYPE_${activity}'`, 'deny'),
        time,
      })
    const waysOfAll = (policies: readonly Resource[]) => {
      const { rows, limits } = told(office({}, policies))
      // Who may add passkeys to others, and no keys, acts for them with passkeys alone.
      expect(limits.filter((one) => !one.startsWith('credentials of one sort let somebody act for others'))).toEqual([])
      const ways = rows.flatMap(({ paths }) =>
        paths.map(({ people, isConditional, steps }) =>
          JSON.stringify([
            people.join(' '),
            isConditional,
            ...steps
              .slice(0, -1)
              .map((one) => [
                one.activity.replace('ACTIVITY_TYPE_', ''),
                ...(one.unless ?? []),
                ...(one.deniedBy ?? []),
              ]),
          ]),
        ),
      )
      return [...new Set(ways)].map((one) => JSON.parse(one))
    }
    const passkey = 'WEBAUTHN_AUTHENTICATOR'
    const byDay = "CronSpan('0 8 * * *', '10h', 'UTC')"
    expect(waysOfAll([signsBy('API_KEY_ED25519')])).toEqual([['bob', false, ['CREATE_API_KEYS_V2']]])
    expect(waysOfAll([signsBy(passkey)])).toEqual([['bob', false, ['CREATE_AUTHENTICATORS_V2']]])
    expect(waysOfAll([signsBy('LOGIN'), no('CREATE_API_KEYS_V2')])).toEqual([['bob', false, ['STAMP_LOGIN']]])
    expect(waysOfAll([signsBy('READ_WRITE_SESSION_KEY_P256')])).toEqual([
      ['bob', false, ['CREATE_READ_WRITE_SESSION_V2']],
    ])
    expect(waysOfAll([signsBy(passkey), no('CREATE_AUTHENTICATORS_V2')])).toEqual([])
    expect(waysOfAll([signsBy(passkey), no('CREATE_AUTHENTICATORS_V2', byDay)])).toEqual([
      ['bob', true, ['CREATE_AUTHENTICATORS_V2', byDay, 'no-CREATE_AUTHENTICATORS_V2']],
    ])
    // The login is not forbidden at any time.
    expect(waysOfAll([signsBy('LOGIN'), no('CREATE_AUTHENTICATORS_V2', byDay)])).toEqual([
      ['bob', false, ['STAMP_LOGIN']],
    ])
    // Before another move, by the credential that it takes.
    const tags = `activity.type == 'ACTIVITY_TYPE_UPDATE_USER_TAG'`
    const moves = live('policy.tags', policy(byPasskey, tags))
    const opsByKey = live(
      'policy.ops',
      policy(
        `${tagged(OPS)} && credentials.all(c, c.type != 'CREDENTIAL_TYPE_${passkey}')`,
        "activity.action == 'SIGN'",
      ),
    )
    expect(waysOfAll([opsByKey, moves]).filter(([people]) => people === 'bob')).toEqual([
      ['bob', false, ['CREATE_AUTHENTICATORS_V2'], ['UPDATE_USER_TAG']],
    ])
  })

  test('that somebody acts for others whose own key a policy asks for is said not to be followed', () => {
    const signsBy = (who: string) =>
      live(
        'policy.key',
        policy(
          `credentials.any(c, c.public_key == '${key(who)['publicKey']}') && ${is('carol')} && approvers.count() > 1`,
          "activity.action == 'SIGN'",
        ),
      )
    const adds = may("activity.type == 'ACTIVITY_TYPE_CREATE_API_KEYS_V2'")
    const limitsOf = (policies: readonly Resource[]) => told(office({}, policies)).limits
    expect(limitsOf([signsBy('carol'), adds])).toEqual([expect.stringContaining('was not followed')])
    // Only the root quorum adds keys to others, which needs nobody; a key of nobody; Bob's own, which he keeps himself.
    expect(limitsOf([signsBy('carol')])).toEqual([])
    expect(limitsOf([signsBy('nobody'), adds])).toEqual([])
    expect(limitsOf([signsBy('bob'), adds])).toEqual([])
  })

  test('a wallet is given the name that a policy asks for, or one that no DENY asks for', () => {
    const hot = (condition: string, effect: 'allow' | 'deny' = 'allow', who: string | null = is('bob')) =>
      live(`policy.${effect}`, policy(who, `activity.action == 'SIGN' && ${condition}`, effect))
    const renames = may("activity.type == 'ACTIVITY_TYPE_UPDATE_WALLET'", is('carol'))
    const of = (policies: readonly Resource[]) => {
      const { rows, limits } = told(office({}, policies))
      return { ways: [...new Set(rows.flatMap(({ paths }) => paths.map(({ people }) => people.join(' '))))], limits }
    }
    expect(of([hot("wallet.label == 'hot'"), renames])).toEqual({ ways: ['bob carol'], limits: [] })
    expect(of([hot("wallet.label in ['warm', 'hot']"), renames])).toEqual({ ways: ['bob carol'], limits: [] })
    expect(of([hot('true'), hot("wallet.label == 'cold'", 'deny', null), renames])).toEqual({
      ways: ['bob carol'],
      limits: [],
    })
    // A condition that names the wallet by its id holds by whatever name.
    expect(of([hot(`wallet.label == 'hot' && wallet.id == '${idFor('wallet.other')}'`), renames]).ways).toEqual([])
    expect(of([hot("wallet.label == 'hot'")])).toEqual({ ways: [], limits: [] })
    expect(of([signs, renames])).toEqual({ ways: [], limits: [] })
    expect(of([hot("wallet.label != '' && wallet.label[0..1] == 'h'"), renames]).limits).toEqual([
      'policies read `wallet.label` in a way of which not every name was tried',
    ])
  })

  test('a session that a member of the root quorum begins for another user is followed; with others who vote it is perhaps so', () => {
    const session = (consensus: string, version = '_V2') =>
      may(`activity.type == 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION${version}'`, consensus)
    const quorum = (threshold: number) =>
      live('rootQuorum', { threshold, users: ['bob', 'carol'].map((name) => idFor(`user.${name}`)) })
    const waysOfAll = (policies: readonly Resource[]) =>
      told(office({}, policies)).rows.flatMap(({ paths }) =>
        paths.map(({ people, isConditional }) => [people.join(' '), isConditional]),
      )
    expect(waysOfAll([quorum(2), session(is('bob'))])).toEqual([['bob', false]])
    // By an e-mail address, which not every user has.
    expect(waysOfAll([quorum(2), session(is('bob'), '')])).toEqual([['bob', true]])
    expect(waysOfAll([quorum(2), session(is('alice'))])).toEqual([
      ['alice bob', true],
      ['alice carol', true],
    ])
    expect(waysOfAll([quorum(1), session(is('bob'))])).toEqual([])
    expect(waysOfAll([session(is('carol'))])).toEqual([])
  })

  test('the shortest way is told with whom, by which policy and what it gains; who becomes root unintended is said', () => {
    const result = told(
      office({}, [may("activity.type == 'ACTIVITY_TYPE_CREATE_API_KEYS_V2' && activity.params.user_id == 'x'")]),
    )
    expect(result.rows[0]!.paths).toEqual([
      {
        people: ['bob'],
        isConditional: true,
        steps: [
          {
            activity: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2',
            people: ['bob'],
            policies: ['may'],
            condition: "activity.params.user_id == 'x'",
            gains: 'acts for any user, by a credential or login added to them',
          },
          { activity: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD', people: ['alice (taken over)'], policies: [] },
        ],
      },
    ])
    expect(result.roots).toMatchObject([{ people: ['bob'], isConditional: true }])
    const tags = told(office({}, [signs, may("activity.type == 'ACTIVITY_TYPE_UPDATE_USER_TAG'")]))
    expect(tags.rows[0]!.paths[0]!.steps.map(({ policies }) => policies)).toEqual([['may'], ['ops']])
    expect(tags.roots).toEqual([])
    const onboarding = told(office({}, [may("activity.type == 'ACTIVITY_TYPE_CREATE_API_KEYS_V2'")]))
    expect(onboarding.roots.map(({ people }) => people)).toEqual([['bob']])
    expect(onboarding.roots[0]!.steps.at(-1)!.people).toEqual(['alice (taken over)'])
  })

  test('who writes policies and takes them away gets to what is for the root quorum alone by acting for its members', () => {
    const may = live('policy.may', policy(is('bob'), "activity.resource == 'POLICY'"))
    const { rows } = indirectPowersOf(actualOf(office({}, [may])), { nowMs: NOW })
    const waysTo = (activity: string) =>
      rows
        .filter(({ activities }) => activities.includes(`ACTIVITY_TYPE_${activity}`))
        .flatMap(({ paths }) =>
          paths.map(({ people, steps }) => [people, steps.map(({ gains }) => gains?.split(',')[0])]),
        )
    const way = [['bob'], ['writes any policy that allows', 'acts for any user', undefined]]
    for (const activity of ['UPDATE_ROOT_QUORUM', 'SET_ORGANIZATION_FEATURE'])
      expect(waysTo(activity), activity).toEqual([way])
  })

  const shapes = fc.record({
    tags: fc.array(fc.subarray([OPS, CFO]), { minLength: 3, maxLength: 3 }),
    policies: fc.array(
      fc.record({
        effect: fc.constantFrom('allow', 'allow', 'allow', 'deny'),
        condition: fc.constantFrom(
          "activity.action == 'SIGN'",
          "activity.type == 'ACTIVITY_TYPE_UPDATE_USER_TAG'",
          "activity.type == 'ACTIVITY_TYPE_CREATE_USERS_V3'",
          "activity.type == 'ACTIVITY_TYPE_CREATE_API_KEYS_V2'",
          "activity.type == 'ACTIVITY_TYPE_CREATE_POLICIES'",
          "activity.type == 'ACTIVITY_TYPE_DELETE_POLICIES'",
          "activity.type == 'ACTIVITY_TYPE_DELETE_USER_TAGS'",
        ),
        consensus: fc.constantFrom(
          tagged(OPS),
          `${tagged(CFO)} && approvers.count() >= 2`,
          `approvers.filter(u, u.tags.contains('${OPS}')).count() == 0`,
          is('bob'),
          `!${is('carol')}`,
          'approvers.count() >= 2',
        ),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  })

  test('whoever gets there by moves on concrete states is told, and whoever is told gets there', () => {
    let reached = 0
    fc.assert(
      fc.property(shapes, ({ tags, policies }) => {
        const resources = office(
          Object.fromEntries(NAMES.map((name, index) => [name, tags[index]!])),
          policies.map(({ effect, condition, consensus }, index) =>
            live(`policy.p${index}`, policy(consensus, condition, effect as 'allow')),
          ),
        )
        const result = told(resources)
        expect(result.limits).toEqual([])
        const raw = 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'
        const isRaw = ({ activities }: { readonly activities: readonly string[] }) =>
          activities.some((one) => one.startsWith(raw))
        const direct = powersOf(actualOf(resources), { nowMs: NOW, powers: ['sign'] })
          .filter(isRaw)
          .flatMap(({ lines }) =>
            lines
              .flatMap((line) => waysOf(line) as Exclude<ReturnType<typeof waysOf>, 'unknown'>)
              .flatMap(({ sets }) => sets),
          )
        const indirect = result.rows.filter(isRaw).flatMap(({ paths }) => paths.map(({ people }) => people))
        for (const some of subsetsOf(NAMES)) {
          const isTold = [...direct, ...indirect].some((set) => set.every((one) => some.includes(one as never)))
          const found = play(resources, some, raw)
          if (found === 'gave-up') continue
          if (found) reached++
          expect([some.join(' '), isTold, JSON.stringify(policies)]).toEqual([
            some.join(' '),
            found,
            JSON.stringify(policies),
          ])
        }
      }),
      { numRuns: runs(20) },
    )
    expect(reached).toBeGreaterThan(20)
  })
})

function subsetsOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  return items
    .reduce<readonly (readonly T[])[]>((all, item) => all.concat(all.map((one) => [...one, item])), [[]])
    .filter(({ length }) => length > 0)
}

/** A state of the organization, and the ids of users for whom those who play can act. */
interface Played {
  readonly things: readonly Resource[]
  readonly ours: ReadonlySet<string>
}

/** Whether these people get an activity executed after any moves, each carried out on a state. */
function play(resources: readonly Resource[], people: readonly string[], wanted: string): boolean | 'gave-up' {
  const seen = new Set<string>()
  let open: readonly Played[] = [{ things: resources, ours: new Set(people.map((name) => idFor(`user.${name}`))) }]
  while (open.length > 0) {
    const next: Played[] = []
    for (const played of open) {
      const key = JSON.stringify([
        played.things.map(({ id, fields }) => [id, fields['tags']]).sort(),
        [...played.ours].sort(),
      ])
      if (seen.has(key)) continue
      seen.add(key)
      if (seen.size > 250) return 'gave-up'
      const can = createVoting(played)
      if (can(wanted)) return true
      next.push(...movesFrom(played, can))
    }
    open = next
  }
  return false
}

function movesFrom({ things, ours }: Played, can: (type: string) => boolean): readonly Played[] {
  const moves: Played[] = []
  const users = things.filter(({ kind }) => kind === 'user')
  if (can('ACTIVITY_TYPE_CREATE_POLICIES'))
    moves.push({
      things: [...things.filter(({ name }) => name !== 'written'), live('policy.written', policy(null, null))],
      ours,
    })
  if (can('ACTIVITY_TYPE_DELETE_POLICIES'))
    for (const one of things.filter(({ kind }) => kind === 'policy'))
      moves.push({ things: things.filter((other) => other !== one), ours })
  if (can('ACTIVITY_TYPE_UPDATE_USER_TAG'))
    for (const user of users.filter(({ id }) => ours.has(id!)))
      for (const tag of [OPS, CFO]) {
        const had = user.fields['tags'] as readonly string[]
        const tags = had.includes(tag) ? had.filter((one) => one !== tag) : [...had, tag].sort()
        moves.push({
          things: things.map((one) => (one === user ? { ...user, fields: { ...user.fields, tags } } : one)),
          ours,
        })
      }
  if (can('ACTIVITY_TYPE_DELETE_USER_TAGS'))
    for (const tag of [OPS, CFO]) {
      const without = ({ fields }: Resource) => (fields['tags'] as readonly string[]).filter((one) => one !== tag)
      moves.push({
        things: things.map((one) =>
          one.kind === 'user' ? { ...one, fields: { ...one.fields, tags: without(one) } } : one,
        ),
        ours,
      })
    }
  if (can('ACTIVITY_TYPE_CREATE_API_KEYS_V2'))
    for (const { id } of users) if (!ours.has(id!)) moves.push({ things, ours: new Set([...ours, id!]) })
  const made = users.length - NAMES.length
  if (made < 2 && can('ACTIVITY_TYPE_CREATE_USERS_V3'))
    for (const tags of [[], [OPS], [CFO]]) {
      const user = live(`user.made${made}`, { tags })
      moves.push({
        things: [...things, user, live(`apiKey.made${made}.k`, key(`made ${made}`))],
        ours: new Set([...ours, user.id!]),
      })
    }
  return moves
}

/** Whether those who play get an activity executed, by every order of their votes. */
function createVoting({ things, ours }: Played): (type: string) => boolean {
  const organization = organizationOf(things)
  const policies = policiesOf({ things }, createPolicyCompiler())
  const voters = votersOf(organization, NOW).filter(({ approver }) => ours.has(approver.id))
  const vote = (context: PolicyContext, left: readonly Voter[]): boolean =>
    left.some((one) => {
      const credential = one.credentials![0]!
      if (context.approvers.length > 0 && !mayVote(policies, context, one.approver, credential)) return false
      const more = {
        ...context,
        approvers: [...context.approvers, one.approver],
        credentials: [...context.credentials!, credential],
      }
      const { outcome } = authorize(policies, more)
      return (
        outcome === 'OUTCOME_ALLOW' ||
        (outcome === 'OUTCOME_REQUIRES_CONSENSUS' &&
          vote(
            more,
            left.filter((other) => other !== one),
          ))
      )
    })
  return (type) => {
    const wallet = type.includes('SIGN') ? { wallet: { id: idFor('wallet.cold'), label: 'cold' } } : {}
    const { rootQuorum } = organization
    return vote(
      { now: 0n, activity: { type, params: {} }, approvers: [], credentials: [], rootQuorum, ...wallet },
      voters,
    )
  }
}

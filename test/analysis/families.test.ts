/** What is said of each activity, held against an answer that it changes: moves that are followed, and those that are not. */
import { describe, expect, test } from 'vitest'
import { FAMILIES } from '../../src/analysis/families.ts'
import { type ActivityFamily, activities } from '../../src/protocol/index.ts'
import type { Resource } from '../../src/resources/index.ts'
import { idFor, live, policy } from '../plan/organization.ts'
import { CFO, is, OPS, office, tagged, told } from './office.ts'

const SIGNING = "activity.action == 'SIGN'"
const opsSign = live('policy.ops', policy(tagged(OPS), SIGNING))
const bobSigns = live('policy.bob', policy(is('bob'), SIGNING))
const nobodySigns = live('policy.no', policy(null, SIGNING, 'deny'))

/** Where nobody but the root quorum signs, unless by the move. */
const EXAMPLES: Readonly<Partial<Record<ActivityFamily, readonly Resource[]>>> = {
  CREATE_POLICY: [],
  CREATE_POLICIES: [],
  UPDATE_POLICY: [],
  DELETE_POLICY: [bobSigns, nobodySigns],
  DELETE_POLICIES: [bobSigns, nobodySigns],
  UPDATE_USER_TAG: [opsSign],
  DELETE_USER_TAGS: [bobSigns, live('policy.no', policy(tagged(CFO), SIGNING, 'deny'))],
  UPDATE_USER: [opsSign],
  UPDATE_USER_NAME: [live('policy.name', policy("approvers.any(u, u.alias == 'the signer')", SIGNING))],
  UPDATE_USER_EMAIL: [live('feature.EMAIL_AUTH')],
  UPDATE_USER_PHONE_NUMBER: [live('feature.SMS_AUTH')],
  CREATE_USERS: [opsSign],
  CREATE_API_ONLY_USERS: [opsSign],
  CREATE_INVITATIONS: [opsSign],
  CREATE_API_KEYS: [],
  CREATE_AUTHENTICATORS: [],
  CREATE_OAUTH_PROVIDERS: [],
  UPDATE_WALLET: [live('policy.hot', policy(is('bob'), `${SIGNING} && wallet.label == 'hot'`))],
  CREATE_READ_WRITE_SESSION: [live('rootQuorum', { threshold: 2, users: [idFor('user.bob'), idFor('user.carol')] })],
}
/** The root quorum alone makes it, which may do everything: it leads nobody further, and makes the way shorter. */
const SHORTER = 'UPDATE_ROOT_QUORUM'

const typesOf = (family: string) => Object.values(activities).filter((row) => row.family === family)
const may = (condition: string) => live('policy.may', policy(is('bob'), condition))
const isType = (type: string) => `activity.type == '${type}'`
const whoGets = ({ rows, roots }: ReturnType<typeof told>) =>
  [...new Set([...rows.flatMap(({ paths }) => paths), ...roots].map(({ people }) => people.join(' ')))].sort()

describe('families', () => {
  const rows = Object.entries(FAMILIES)

  test('families: each says in a sentence why it gives nothing, or what is not followed', () => {
    expect(new Set(rows.map(([family]) => family))).toEqual(
      new Set(Object.values(activities).map(({ family }) => family)),
    )
    for (const [family, row] of rows) {
      const words = 'nothing' in row ? row.nothing : 'unfollowed' in row ? row.unfollowed.says : undefined
      if (words !== undefined) expect([family, words]).toEqual([family, expect.stringMatching(/^[^.]{30,}[^. ]$/)])
    }
  })

  test('families: of each that is followed there is an example', () => {
    const followed = rows.flatMap(([family, row]) => ('gains' in row ? [family] : []))
    expect(followed.toSorted()).toEqual([...Object.keys(EXAMPLES), SHORTER].sort())
  })

  test.each(Object.entries(EXAMPLES))(
    'families: whoever may %s alone gets further, by every version of it',
    (family, given) => {
      const tags = family === 'DELETE_USER_TAGS' ? { bob: [CFO] } : {}
      expect(whoGets(told(office(tags, given)))).toEqual([])
      for (const { type } of typesOf(family))
        expect([type, whoGets(told(office(tags, [...given, may(isType(type))])))]).toEqual([type, ['bob']])
    },
  )

  const [email, phone] = [live('feature.EMAIL_AUTH'), live('feature.SMS_AUTH')]
  const bySelf = (field: string) => live('policy.self', policy(`approvers.any(u, u.${field} == 'desk')`, SIGNING))
  test.each<[family: ActivityFamily, by: string, given: Resource, who: readonly string[]]>([
    ['UPDATE_USER', 'a tag', opsSign, ['bob']],
    ['UPDATE_USER', 'a name', bySelf('alias'), ['bob']],
    ['UPDATE_USER', 'an address that a policy asks for', bySelf('email'), ['bob']],
    ['UPDATE_USER', 'an address that logs in', email, ['bob']],
    ['UPDATE_USER', 'a phone number that logs in', phone, ['bob']],
    ['UPDATE_USER_EMAIL', 'an address that a policy asks for', bySelf('email'), ['bob']],
    ['UPDATE_USER_EMAIL', 'an address that logs in', email, ['bob']],
    ['UPDATE_USER_EMAIL', 'an address where phone numbers log in', phone, []],
    ['UPDATE_USER_PHONE_NUMBER', 'a phone number that logs in', phone, ['bob']],
    ['UPDATE_USER_PHONE_NUMBER', 'a phone number where addresses log in', email, []],
  ])('families: %s, by %s', (family, _, given, who) => {
    expect(whoGets(told(office({}, [given])))).toEqual([])
    for (const { type } of typesOf(family))
      expect([type, whoGets(told(office({}, [given, may(isType(type))])))]).toEqual([type, who])
  })

  /** Where each matters that is not followed. */
  const byLogin = live(
    'policy.login',
    policy(`credentials.any(c, c.type == 'CREDENTIAL_TYPE_LOGIN') && ${is('carol')}`, SIGNING),
  )
  const matters = (family: string): readonly Resource[] =>
    ({
      INIT_USER_EMAIL_RECOVERY: [live('feature.EMAIL_RECOVERY')],
    })[family] ?? (/AUTH$|LOGIN/.test(family) ? [byLogin] : [])

  const unfollowed = rows.flatMap(([family, row]) => ('unfollowed' in row ? [[family, row.unfollowed] as const] : []))
  test.each(unfollowed)(
    'families: where somebody may %s and it matters, that it is not followed is said',
    (family, row) => {
      const limitsOf = (policies: readonly Resource[]) => told(office({}, policies)).limits
      const before = matters(family)
      expect(limitsOf(before)).toEqual([])
      for (const { type } of typesOf(family))
        expect([type, limitsOf([...before, may(isType(type))])]).toEqual([type, [row.says]])
    },
  )
})

import type { AnyNode } from 'acorn';
import type { Finding } from './compare-uses.ts';
import type { SyntaxTree } from './syntax-tree.ts';

/** The properties of `permissions` in plugin.json, hosts and methods apart. */
export type Permission =
  | 'conversation'
  | 'contact'
  | 'history'
  | 'storage'
  | 'network'
  | 'hosts'
  | 'methods'
  | 'secrets'
  | 'llm'
  | 'kb'
  | 'schedule'
  | 'forward'
  | 'tools'
  | 'handoff_cause';

/** A permission, and what it must name; `value` is empty where it is granted or not. */
export interface Needed {
  permission: Permission;
  value: string;
}

/** Something that a bot's code does and that needs a permission, such as `contact` `email`. */
export interface Use extends Needed {
  /** As the author wrote it, such as `ctx.contact.email`. */
  what: string;
  file: string;
  line: number;
}

/** A place where the needed permission cannot be seen. */
export interface BlindSpot {
  finding: Finding;
  hidden: Permission | 'all';
}

/** The permissions that the code of a package needs, and the places where that cannot be seen. */
export class Uses {
  readonly found: Use[] = [];
  readonly blindSpots: BlindSpot[] = [];
  /** Permissions of which the code may use more than is found; `all` where `ctx` itself gets out of sight. */
  readonly hidden = new Set<Permission | 'all'>();

  add(tree: SyntaxTree, node: AnyNode, use: Needed & { what: string }): void {
    this.found.push({ ...use, file: tree.file, line: tree.lineOf(node) });
  }

  warn(tree: SyntaxTree, node: AnyNode, { hidden, message }: { hidden: Permission | 'all'; message: string }): void {
    this.hidden.add(hidden);
    const finding: Finding = { level: 'warning', file: tree.file, line: tree.lineOf(node), message };
    this.blindSpots.push({ finding, hidden });
  }
}

const actions = [
  'reply',
  'note',
  'handoff',
  'resolve',
  'snooze',
  'open',
  'assign',
  'label',
  'priority',
  'attributes',
  'mute',
  'sla',
  'bot',
];
const fields = ['name', 'email', 'phone_number', 'identifier', 'custom_attributes', 'visitor_attributes'];
const scopes = ['conversation', 'contact', 'installation'];
const switches = {
  fetch: 'network',
  llm: 'llm',
  kb: 'kb',
  schedule: 'schedule',
  forward: 'forward',
  tools: 'tools',
  history: 'history',
} as const;

/** The permission that a member of `ctx`, `ctx.contact` or `ctx.storage` needs; null for none. */
export function permissionOf(path: string, name: string): Needed | null {
  if (path === 'ctx' && actions.includes(name)) return { permission: 'conversation', value: name };
  if (path === 'ctx' && Object.hasOwn(switches, name)) {
    return { permission: switches[name as keyof typeof switches], value: '' };
  }
  if (path === 'ctx.contact' && fields.includes(name)) return { permission: 'contact', value: name };
  if (path === 'ctx.storage') return { permission: 'storage', value: scopes.includes(name) ? name : 'conversation' };
  return null;
}

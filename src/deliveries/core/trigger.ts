/** Why a delivery is made: an event happened, somebody wants it again, or somebody tries whether the endpoint answers. */
export type Trigger = 'live' | 'resend' | 'recover' | 'test';

package inspect

// A Help is what can be typed: commands by group.
type Help struct {
	Rows []HelpRow `json:"rows"`
}

// A HelpRow is one command, or one key.
type HelpRow struct {
	Group   string `json:"group"`
	Name    string `json:"name"` // :hbm, or the key
	Args    string `json:"args,omitempty"`
	Doc     string `json:"doc"`
	Example string `json:"example,omitempty"`
}

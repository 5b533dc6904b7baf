package command

import "github.com/tpush/tpush/viz"

func free(c *Call) (Answer, error) {
	var list []string
	for _, a := range c.Args {
		if a == "out" && findVariable(c.Session, "out") == nil {
			list = append(list, c.Session.Outputs()...)
			continue
		}
		list = append(list, a)
	}
	if len(c.Args) == 0 {
		return Answer{}, &UsageError{"free", "NAME...|out", "a name is wanted"}
	}
	freed, err := c.Session.Free(list...)
	if err != nil {
		return Answer{}, err
	}
	return text("freed %s of HBM, %s in use", viz.Bytes(freed), viz.Bytes(c.Session.Device().HBM().Used()))
}

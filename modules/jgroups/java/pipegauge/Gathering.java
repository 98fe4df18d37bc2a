package pipegauge;

import java.util.List;
import org.jgroups.Address;
import org.jgroups.protocols.TCPPING;
import org.jgroups.util.Responses;

/**
 * How members find their group: they ask rank 0, whose address they were given. Rank 0 has nobody to ask and is the first at once.
 */
public final class Gathering extends TCPPING {
    /** Its number among protocols: from 512 on those that are none of JGroups' own. */
    static final short ID = 5120;

    @Override
    public void findMembers(List<Address> members, boolean first, Responses responses) {
        if (first && initial_hosts.isEmpty())
            responses.done();
        else
            super.findMembers(members, first, responses);
    }
}
